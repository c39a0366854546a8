"""A real lab is archived, restored and loaded from its archive, and nothing of it changes."""

import re
import zipfile
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.management import call_command
from django.db import transaction

from arqlab.core.models import Lab, Task
from collection.models import Author, Collection, Comment, Post, PostLink, Tag, VisualMap
from desk.services.lab_archives import archive_lab, restore_lab
from submissions.models import Run
from tests.desk.services.test_lab_archives import contents, destroy

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


class Archived(NamedTuple):
    """A real lab, what the command said that loaded it, its archive, and the lab folder in it."""

    lab: Lab
    printed: str
    archive: Path
    folder: Path


@pytest.fixture(
    scope="module", params=["arqmath-1", "arqmath-2", "arqmath-3", "ntcir-12-wfb"], ids=str
)
def archived(
    request: pytest.FixtureRequest, kept_db: None, shared_data: Path, tmp_path_factory: Any
) -> Iterator[Archived]:
    """Load and archive a lab, once for all that is done with the archive."""
    slug, place = request.param, tmp_path_factory.mktemp("archived")
    with transaction.atomic():
        printed = load(shared_data / slug)
        lab = Lab.objects.get()
        load_odd_runs(lab.tasks.order_by("pk")[0], place / "runs")
        archive = archive_lab(lab, path=place / "lab.zip").path
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(place / "unpacked")
        yield Archived(lab, printed, archive, place / "unpacked" / slug / "data")
        transaction.set_rollback(True)


def test_the_command_lists_the_collection_that_sample_labs_share(archived, shared_data):
    beside = re.findall(r"Read beside the folder: (.*)", archived.printed)

    folder = (shared_data / "collection").resolve()
    is_arqmath = archived.lab.slug.startswith("arqmath")
    assert [Path(path).parent for path in beside] == [folder] * 3 * is_arqmath


def test_a_real_lab_is_the_same_after_an_archive(archived, db, tmp_path):
    names = list(Run.objects.order_by("pk").values_list("upload__name", "tag", "sha256"))

    destroy(archived.lab, but=SEARCHED)
    lab = restore_lab(archived.archive)
    again = archive_lab(lab, path=tmp_path / "again.zip").path

    assert contents(again) == contents(archived.archive)
    assert list(Run.objects.order_by("pk").values_list("upload__name", "tag", "sha256")) == names
    assert load(archived.folder).startswith(NOTHING)


def test_a_lab_that_is_loaded_from_an_archive_has_the_same_files(archived, db, tmp_path):
    destroy(archived.lab, but=SEARCHED)

    load(archived.folder)
    again = archive_lab(Lab.objects.get(), path=tmp_path / "again.zip").path

    before, after = contents(archived.archive), contents(again)
    files = ("topics.xml", "topic-info.csv", "qrels.tsv", "guidelines.html")
    named = [name for name in before if name.endswith(files) or "/qrels." in name]
    assert len(named) > 2
    assert {name: after.get(name) for name in named} == {name: before[name] for name in named}
