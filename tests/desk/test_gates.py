"""What comes in by browser, API, archive or command reads nothing of the server."""

import ast
import io
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django import forms
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from arqkit.formats.archives.folders import checked_parts
from arqkit.formats.labs.files import TASK_FILES
from arqlab.core.models import Job, JobProblem, Lab, Task
from desk.forms.loads import CollectionFilesForm
from submissions.models import Run
from submissions.services.run_files import RUN_COLUMNS, run_files
from tests.desk.views.test_loads import FILES, creator, file, post
from tests.factories import Scene
from tests.outside import HOSTILE, NAMES, PACKERS, SECRET, tar_with, zip_of
from tests.paths import ROOT

__all__ = ["creator", "post"]

TASK_KEYS = {
    "topics": 'topics = "{0}"',
    "topic_info": 'topics = "topics.xml"\ntopic_info = "{0}"',
    "topic_formulas": 'topics = "topics.xml"\ntopic_formulas = "{0}"',
    "guidelines": 'guidelines = "{0}"',
    "answer_ids": 'answer_ids = "{0}"',
    "runs": 'topics = "topics.xml"\nruns = "{0}"',
    "assignments": 'topics = "topics.xml"\nassignments = "{0}"',
    "judgments": 'topics = "topics.xml"\njudgments = "{0}"',
    "file": 'topics = "topics.xml"\nqrels = [{{ name = "official", file = "{0}" }}]',
}
"""A task of a lab.toml for each key that names a file."""
COLLECTION_KEYS = {
    "documents": 'documents = "{0}"',
    "dump": 'dump = "{0}"',
    **{
        kind: f'{kind} = "{{0}}"'
        for kind in ("posts", "comments", "post_links", "tags", "users", "votes", "badges")
    },
    **{name: f'formulas = {{{{ {name} = "{{0}}" }}}}' for name in ("latex", "slt", "opt")},
}
"""A collection of a lab.toml for each key that names a file or folder."""
PATHS = (
    "{secret}",
    "../secret.txt",
    "topics.xml/../../../secret.txt",
    "/etc/passwd",
    "..\\secret.txt",
)
RUN = "A.301\t10\t1\t2.5\tours\n"


def lab_toml(key: str, path: str) -> str:
    """Return a lab.toml that names a path under a key."""
    path = json.dumps(path)[1:-1]
    kind = "written-answers" if key == "answer_ids" else "answers"
    task = TASK_KEYS.get(key, "").format(path)
    collection = COLLECTION_KEYS.get(key, "").format(path)
    return (
        '[lab]\nslug = "tiny"\nname = "A tiny lab"\nprotocol = "arqmath-3"\n\n'
        + (f'[collection]\nslug = "mse"\n{collection}\n\n' if collection else "")
        + f'[[tasks]]\nslug = "task1"\nname = "Task 1"\nkind = "{kind}"\n{task}\n'
    )


@pytest.fixture(autouse=True)
def secret(settings, tmp_path: Path) -> Path:
    """Return a file of the server, beside its folders."""
    settings.MEDIA_ROOT = tmp_path / "files/kept"
    settings.DATA_DIR = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir(parents=True)
    for folder in (tmp_path, settings.MEDIA_ROOT, settings.DATA_DIR):
        (folder / "secret.txt").write_text(f"{SECRET}\tA.301\t{SECRET}\n")
    return tmp_path / "secret.txt"


def everything_stored() -> Iterator[str]:
    """Yield the text of every row of every model."""
    for model in apps.get_models():
        for row in model._base_manager.values():
            yield json.dumps(row, default=str)


def assert_refused(load: Job, *, says: str = "") -> None:
    """Check that a load has a sentence for its user, and that nothing of the server is stored."""
    sentences = load.message + " ".join(str(problem.__dict__) for problem in load.problems.all())
    assert load.state == Job.State.REFUSED, (load.state, load.message)
    assert says in sentences
    assert not any(SECRET in text or "root:x:0" in text for text in everything_stored())


def keys_that_name_files() -> set[str]:
    """Return the keys of a lab.toml that are read as files, from the code."""
    keys: set[str] = set()
    for path in (ROOT / "arqkit/formats/labs").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "file":
                keys.add(ast.unparse(node.args[0]).strip("'"))
    return keys


def test_every_key_that_names_a_file_is_attacked():
    loops = {"kind", "name"}  # of DUMP_FILES and REPRESENTATIONS
    kinds = {"key", "kind.key"}  # of TASK_FILES, of which qrels are tables with a file each

    assert keys_that_name_files() - loops - kinds == {"file", "documents", "dump"}
    assert {*TASK_KEYS} == {*TASK_FILES, "file"} - {"qrels"}


@pytest.mark.parametrize("key", [*TASK_KEYS, *COLLECTION_KEYS])
def test_no_key_of_an_uploaded_lab_reads_a_file_of_the_server(creator, post, secret, key):
    for path in PATHS:
        toml = lab_toml(key, path.format(secret=secret))
        files = [("lab.toml", toml.encode()), ("topics.xml", FILES["topics.xml"].encode())]

        assert_refused(
            post(creator, "/load-lab/", file=[file("tiny.zip", zip_of(files))]), says=f"{key} = "
        )
        JobProblem.objects.all().delete()
    assert not Lab.objects.exists()


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "\0" not in name and name.isprintable()]
)
def test_no_name_of_a_file_leads_out_of_an_uploaded_lab(creator, post, name):
    assert_refused(post(creator, "/load-lab/", file=[file("lab.toml", lab_toml("topics", name))]))


@pytest.mark.parametrize("path", ["/load-lab/", "/labs/arqmath-x/tasks/task1/load/runs/"])
@pytest.mark.parametrize("ending", PACKERS)
def test_no_archive_writes_or_reads_outside_of_its_folder(scene, post, secret, path, ending):
    for name in ("../secret.txt", str(secret), "..\\secret.txt", "x/" * 30 + "x"):
        sent = file(f"tiny{ending}", PACKERS[ending]([("lab.toml", b""), (name, b"other")]))

        assert_refused(post(scene.superuser, path, file=[sent]))
        assert SECRET in secret.read_text()


@pytest.mark.parametrize("path", ["/load-lab/", "/labs/arqmath-x/tasks/task1/load/runs/"])
def test_no_link_in_an_archive_is_followed(scene, post, secret, path):
    sent = file("tiny.tar", tar_with(b"2", str(secret)))

    assert_refused(post(scene.superuser, path, file=[sent]), says="a link or a device")


@pytest.mark.parametrize("column", RUN_COLUMNS)
def test_no_column_of_a_manifest_reads_a_file_of_the_server(scene, post, secret, column):
    for path in (str(secret), "../secret.txt", "../../secret.txt", "..\\secret.txt"):
        cells = {"file": "Alpha-task1-x-auto-both-A.tsv", "team": "Alpha", column: path}
        table = "\t".join(cells) + "\n" + "\t".join(cells.values()) + "\n"
        files = [("manifest.tsv", table.encode()), (cells["file"], RUN.encode())]
        if column == "file":
            files[1] = ("Alpha-task1-x-auto-both-A.tsv", RUN.encode())

        load = post(
            scene.superuser,
            "/labs/arqmath-x/tasks/task1/load/runs/",
            file=[file("runs.zip", zip_of(files))],
        )

        assert load.state in (Job.State.DONE, Job.State.REFUSED), load.message
        assert not any(SECRET in text for text in everything_stored())
        if column == "file":
            assert_refused(load, says="no file")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "field",
    [
        name
        for name, field in CollectionFilesForm.base_fields.items()
        if isinstance(field, forms.FileField)
    ],
)
def test_no_file_of_a_collection_stops_its_load_or_reads_a_file_of_the_server(
    scene, post, secret, field, name
):
    names = {"dump": "Posts.xml", "documents": f"d{'.zip' if 'zip' in name else '.jsonl'}"}
    sent = [file(names.get(field, name), HOSTILE[name](str(secret)) or b" ")]

    load = post(scene.superuser, "/labs/arqmath-x/collection/load/", slug="mse", **{field: sent})

    assert load.state in (Job.State.DONE, Job.State.REFUSED), load.message
    assert not any(SECRET in text for text in everything_stored())


def test_a_zip_of_runs_for_the_api_stays_in_memory(scene: Scene, client_of, secret):
    runs = [(name, RUN.encode()) for name in ("../secret.txt", str(secret), "..\\secret.txt")]

    for run in runs:
        sent = SimpleUploadedFile("runs.zip", zip_of([run]))
        answer = client_of(scene.member).post(
            "/api/v1/labs/arqmath-x/tasks/task1/runs/", {"file": sent}
        )
        assert answer.status_code < 500
    assert SECRET in secret.read_text()
    names = [name for name, _ in run_files(scene.task)]
    assert len(names) == 1 + 2 * Run.objects.count()
    assert names == ["/".join(checked_parts(name)) for name in names]


FIELDS = {"topics": "topics", "qrels": "file", "judgments": "file", "runs": "file"}


@pytest.mark.parametrize("kind", FIELDS)
@pytest.mark.parametrize("name", ["../secret.txt", "..\\secret.txt", "/etc/passwd", "C:\\a\\b"])
def test_the_name_of_a_sent_file_is_no_path(scene, post, secret, kind, name):
    sent = io.BytesIO(b"no such format")
    sent.name = name

    load = post(
        scene.superuser,
        f"/labs/arqmath-x/tasks/task1/load/{kind}/",
        **{FIELDS[kind]: sent, "name": "official", "items": "posts"},
    )

    assert load.state in (Job.State.REFUSED, Job.State.DONE), load.message
    assert SECRET in secret.read_text()
    assert not any(SECRET in text for text in everything_stored())


def test_the_command_reads_beside_the_folder_of_a_lab_and_lists_what(db, tmp_path):
    (tmp_path / "topics.xml").write_text(FILES["topics.xml"])
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "lab.toml").write_text(lab_toml("topics", "../topics.xml"))
    out = StringIO()

    call_command("load_lab", folder, stdout=out)

    assert f"Read beside the folder: {tmp_path / 'topics.xml'}" in out.getvalue()
    assert Task.objects.get().topics.count() == 2


def test_the_command_reads_no_link_of_an_archive_of_runs(scene, tmp_path, secret):
    path = tmp_path / "runs.tar"
    path.write_bytes(tar_with(b"2", str(secret)))

    with pytest.raises(CommandError, match="a link or a device"):
        call_command("load_runs", "arqmath-x/task1", path, stdout=StringIO())


def test_a_team_name_that_no_database_takes_is_refused_with_its_length(scene, post):
    table = f"file\tteam\nAlpha-task1-x-auto-both-A.tsv\t{'a' * 81}\n"
    files = [("manifest.tsv", table.encode()), ("Alpha-task1-x-auto-both-A.tsv", RUN.encode())]

    load = post(
        scene.superuser,
        "/labs/arqmath-x/tasks/task1/load/runs/",
        file=[file("runs.zip", zip_of(files))],
    )

    assert load.state == Job.State.REFUSED
    assert "1 to 80 characters; found 81" in load.message + load.log
