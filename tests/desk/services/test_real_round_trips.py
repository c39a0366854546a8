"""A real lab is archived, restored and loaded from its archive, and nothing of it changes."""

import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from arqlab.core.models import Lab, Task
from collection.models import Author, Collection, Comment, Post, PostLink, Tag, VisualMap
from desk.services.lab_archives import archive_lab, restore_lab
from submissions.models import Run
from tests.desk.services.test_lab_archives import contents, destroy

pytestmark = [pytest.mark.django_db, pytest.mark.shared_data]
ODD_NAMES = ("ours-task1-x.v1.2.tsv", "ours-task1-x..3.tsv", "ours-task1-UPPER.TSV.txt")
NOTHING = "Nothing to change."
SEARCHED = {Collection, Post, Comment, PostLink, Author, Tag, VisualMap}
"""The collection stays: the licence does not let an archive have its posts."""


def load(folder: Path) -> str:
    """Return what the command prints that loads a lab."""
    out = StringIO()
    call_command("load_lab", folder, stdout=out, stderr=StringIO())
    return out.getvalue()


def load_odd_runs(task: Task, folder: Path) -> None:
    """Load runs whose files have names with several dots."""
    folder.mkdir()
    [topic] = task.topics.order_by("position")[:1]
    for number, name in enumerate(ODD_NAMES):
        (folder / name).write_text(f"{topic.query_id}\t{number + 1}\t1\t{number}.5\ttag{number}\n")
    call_command("load_runs", str(task), folder, stdout=StringIO())


@pytest.mark.parametrize("slug", ["arqmath-1", "arqmath-2", "arqmath-3", "ntcir-12-wfb"])
def test_a_real_lab_is_the_same_after_an_archive(shared_data, tmp_path, settings, slug):
    settings.MEDIA_ROOT = tmp_path / "media"
    load(shared_data / slug)
    lab = Lab.objects.get()
    load_odd_runs(lab.tasks.order_by("pk")[0], tmp_path / "runs")
    names = list(Run.objects.order_by("pk").values_list("upload__name", "tag", "sha256"))
    archive = archive_lab(lab, path=tmp_path / "lab.zip").path
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(tmp_path / "unpacked")
    folder = tmp_path / "unpacked" / slug / "data"

    destroy(lab, but=SEARCHED)
    lab = restore_lab(archive)
    again = archive_lab(lab, path=tmp_path / "again.zip").path

    assert contents(again) == contents(archive)
    assert list(Run.objects.order_by("pk").values_list("upload__name", "tag", "sha256")) == names
    assert load(folder).startswith(NOTHING)


@pytest.mark.parametrize("slug", ["arqmath-1", "arqmath-2", "arqmath-3", "ntcir-12-wfb"])
def test_a_lab_that_is_loaded_from_an_archive_has_the_same_files(shared_data, tmp_path, slug):
    load(shared_data / slug)
    archive = archive_lab(Lab.objects.get(), path=tmp_path / "lab.zip").path
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(tmp_path / "unpacked")
    destroy(Lab.objects.get(), but=SEARCHED)

    load(tmp_path / "unpacked" / slug / "data")
    again = archive_lab(Lab.objects.get(), path=tmp_path / "again.zip").path

    before, after = contents(archive), contents(again)
    files = ("topics.xml", "topic-info.csv", "qrels.tsv", "guidelines.html")
    named = [name for name in before if name.endswith(files) or "/qrels." in name]
    assert len(named) > 2
    assert {name: after.get(name) for name in named} == {name: before[name] for name in named}
