"""The metadata of runs by ir_metadata, as other tools write them."""

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from arqkit.records import FileRefusedError
from submissions.models import Run
from submissions.services.ir_metadata import read_ir_metadata, write_ir_metadata
from tests.desk.services.test_round_trips import RUN, submitted

pytestmark = pytest.mark.django_db
TOLD = {
    "description": "BM25: k1 = 1.2\nfor é",
    "paper": "https://example.org/p.pdf",
    "code": "https://example.org/code",
    "is_manual": True,
}


def details(run):
    return {name: getattr(run, name) for name in TOLD} | {"team": run.team.name, "tag": run.tag}


def test_details_of_a_run_are_read_as_they_were_written(scene, tmp_path):
    run = submitted(scene, "one", **TOLD)
    before = details(run.__class__.objects.get())
    (tmp_path / "results.tsv").write_bytes(RUN)
    (tmp_path / "results.tsv.ir_metadata.yml").write_bytes(write_ir_metadata(Run.objects.get()))
    Run.objects.all().delete()

    call_command("load_runs", "arqmath-x/task1", tmp_path, stdout=StringIO())

    assert details(Run.objects.get()) == before


def test_the_folder_of_a_run_as_tira_has_it_is_loaded(scene, tmp_path):
    for team in ("Ours", "Theirs"):
        (tmp_path / team).mkdir()
        (tmp_path / team / "run.txt").write_bytes(RUN)
        text = f"ir_metadata.start\ntag: bm25\nactor:\n  team: {team}\nir_metadata.end\n"
        (tmp_path / team / "ir-metadata.yml").write_text(text)

    call_command("load_runs", "arqmath-x/task1", tmp_path, stdout=StringIO())

    assert sorted(Run.objects.values_list("team__name", "tag")) == [
        ("Ours", "bm25"),
        ("Theirs", "bm25"),
    ]


def test_ir_metadata_among_the_comments_of_a_run_is_read():
    text = b"# ir_metadata.start\n# tag: bm25\n# method:\n#   automatic: true\n# ir_metadata.end\n"

    assert read_ir_metadata(text, path="run") == {"tag": "bm25", "is_manual": False}


def test_every_fault_of_ir_metadata_is_named_at_once():
    text = b"tag: [a]\nresearch goal:\n  publication:\n    url: here\nmethod:\n  automatic: 1\n"
    with pytest.raises(FileRefusedError) as refused:
        read_ir_metadata(text, path="x.yml")

    assert [re.match(r"[\w →]+", problem.found)[0] for problem in refused.value.problems] == [
        "tag",
        "research goal → publication → url",
        "method → automatic",
    ]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a.tsv": RUN, "a.tsv.ir_metadata.yml": b"tag: [\n"}, "no YAML"),
        ({"a.tsv": RUN, "a.tsv.ir_metadata.yml": b"- one\n"}, "fields such as"),
        ({"a.tsv": RUN, "b.tsv.ir_metadata.yml": b"tag: b\n"}, "0 run files of it"),
        ({"a.tsv": RUN, "b.tsv": RUN, "ir-metadata.yml": b"tag: b\n"}, "2 run files of it"),
    ],
)
def test_ir_metadata_that_cannot_be_used_is_refused(scene, tmp_path, files, words):
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(CommandError, match=words):
        call_command("load_runs", "arqmath-x/task1", tmp_path, stdout=StringIO())

    assert not Run.objects.exists()
