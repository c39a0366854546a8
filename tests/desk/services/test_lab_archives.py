"""A lab is archived, destroyed and restored, and its archive is the same again."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Container, Iterator
from io import StringIO
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote, urldefrag

import ir_measures
import pytest
from django.core.management import call_command
from django.db import models
from django.test import override_settings
from django.utils import timezone
from lxml import html

from analyses.services.certificates import certificate_frames, certification_of
from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.tables import frame_text
from arqkit.records import FileRefusedError
from arqlab.core.errors import UserError
from arqlab.core.models import Job, Lab, User
from arqlab.jobs.services.jobs import run_next_job
from arqlab.web.archive_tables import archive_tables
from assessment.guidelines.services.versions import write_guideline
from assessment.models import DuplicatePosts, Judgment, QrelSet
from collection.models import Author, Collection, Comment, Post, PostLink, Tag, VisualMap
from desk.services.archive_tables import TableReader, lab_models, models_of_apps
from desk.services.lab_archives import archive_lab, restore_lab
from evaluation.selectors.boards import released_board, released_leaderboard
from submissions.models import Run


@pytest.fixture(scope="module")
def whole_lab(kept_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Return the demo, with a row of each model that it does not use."""
    with override_settings(DATA_DIR=tmp_path_factory.mktemp("demo")):
        call_command("build_demo", stdout=StringIO())
        for model, lookup in lab_models().items():
            if not model._base_manager.exists():
                model._base_manager.create(**dict(filled(model)))
            assert model._base_manager.filter(**{lookup: Lab.objects.get().pk}).exists(), model
        yield Lab.objects.get()


@pytest.fixture(scope="module")
def archived(whole_lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the archive of the lab."""
    return archive_lab(whole_lab, path=tmp_path_factory.mktemp("archive") / "lab.zip").path


@pytest.fixture
def unpacked(archived: Path, tmp_path: Path) -> Path:
    """Return an unpacked archive of the lab."""
    with zipfile.ZipFile(archived) as zipped:
        zipped.extractall(tmp_path)
    return tmp_path / "demo"


def filled(model: type[models.Model]) -> Iterator[tuple[str, Any]]:
    """Yield a value for each field of a model that must have one."""
    for field in model._meta.concrete_fields:
        if field.is_relation:
            if not field.null:
                yield field.name, field.related_model._base_manager.first()
        elif field.has_default() or field.primary_key:
            continue
        elif isinstance(field, models.DateTimeField):
            yield field.name, timezone.now()
        elif isinstance(field, models.CharField | models.TextField):
            yield field.name, field.choices[0][0] if field.choices else "x"
        elif not field.null:
            yield field.name, 1


def destroy(lab: Lab, *, but: Container[type[models.Model]] = ()) -> None:
    """Delete the rows of a lab and the people, but for some models."""
    found = {
        model: list(model._base_manager.filter(**{lookup: lab.pk}).values_list("pk", flat=True))
        for model, lookup in lab_models().items()
        if model not in but
    }
    for model, rows in reversed(found.items()):
        for start in range(0, len(rows), 500):
            batch = model._base_manager.filter(pk__in=rows[start : start + 500])
            batch._raw_delete(batch.db)
    DuplicatePosts.objects.all().delete()
    Job.objects.all().delete()
    User.objects.all().delete()


def contents(path: Path) -> dict[str, bytes]:
    """Return the files of an archive, without the one that has the day, and its hash."""
    dated = ("bag-info.txt", "tagmanifest-sha256.txt")
    with zipfile.ZipFile(path) as zipped:
        names = [name for name in zipped.namelist() if not name.endswith((*dated, "/"))]
        return {name: zipped.read(name) for name in names}


def test_every_model_is_archived_or_left_out_for_a_reason():
    left_out = archive_tables().left_out
    assert set(models_of_apps()) - left_out.keys() == {*lab_models(), User}
    assert not left_out.keys() & lab_models().keys()


def test_a_lab_is_destroyed_and_restored_and_archived_again(whole_lab, archived, db, tmp_path):
    before, key = figures(whole_lab), Judgment.objects.first().pk
    destroy(whole_lab)

    assert not Collection.objects.exists()
    lab = restore_lab(archived)
    again = archive_lab(lab, path=tmp_path / "again.zip")

    assert all(again.counts.values()), again.counts
    assert contents(again.path) == contents(archived)
    assert figures(lab) == before
    assert Judgment.objects.first().pk != key


def test_ir_measures_prints_the_leaderboard_from_archived_files(whole_lab, unpacked, db):
    task = next(task for task in whole_lab.tasks.all() if released_leaderboard(task))
    board = released_board(released_leaderboard(task))
    folder = unpacked / "data" / task.slug
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.tsv")))
    manifest = (folder / "runs" / "manifest.tsv").read_text(encoding="utf-8").splitlines()
    files = {cells[0]: cells[1] for cells in csv.reader(manifest, delimiter="\t")}
    names = [measure.name for measure in board.measures[:6]]
    measures = [ir_measures.parse_measure(name) for name in names]

    for row in board.rows:
        path = files[Run.objects.get(pk=row.run.key).identifier]
        lines = csv.reader(
            (folder / "runs" / path).read_text(encoding="utf-8").splitlines(), delimiter="\t"
        )
        run = [ir_measures.ScoredDoc(line[0], line[1], float(line[3])) for line in lines]
        expected = ir_measures.calc_aggregate(measures, qrels, run)
        values = [row.run.values[name] for name in names]
        assert values == pytest.approx([expected[one] for one in measures], abs=1e-9)


def test_the_lab_in_an_archive_is_loaded_without_its_tables(whole_lab, unpacked, db):
    versions = set(QrelSet.objects.values_list("task__slug", "name", "sha256"))
    destroy(whole_lab)

    call_command("load_lab", unpacked / "data", stdout=StringIO(), stderr=StringIO())

    assert set(QrelSet.objects.values_list("task__slug", "name", "sha256")) == versions


def test_a_lab_is_restored_beside_its_collection_and_the_unpacked_archive_stays_whole(
    whole_lab, unpacked, db
):
    posts, files = Post.objects.count(), sorted(unpacked.rglob("*"))
    searched = {Collection, Post, Comment, PostLink, Author, Tag, VisualMap}
    destroy(whole_lab, but=searched)

    lab = restore_lab(unpacked)

    assert Post.objects.count() == posts > 0
    assert lab.collections.get() == Collection.objects.get()
    assert sorted(unpacked.rglob("*")) == files


def test_an_archive_cannot_name_a_file_outside_of_it(whole_lab, unpacked, db, tmp_path):
    destroy(whole_lab)
    own = tmp_path / "own.txt"
    own.write_text("a secret")
    tables = unpacked / "data" / "tables"
    uploads = tables / "submissions.upload.jsonl"
    rows = [json.loads(line) for line in uploads.read_text(encoding="utf-8").splitlines()]
    rows[0]["file"] = "../../../own.txt"
    uploads.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    with pytest.raises(FileRefusedError, match="a path that leaves its folder"):
        TableReader(data=SourceFolder(tables.parent)).read()
    assert own.read_text(encoding="utf-8") == "a secret"


def test_a_damaged_archive_is_refused_with_all_that_is_wrong(unpacked, db):
    data = unpacked / "data"
    (data / "lab.toml").write_text("[lab]")
    (data / "README.md").unlink()
    (data / "more.txt").write_text("more")

    with pytest.raises(UserError) as refused:
        restore_lab(unpacked)

    assert refused.value.code == "damaged"
    assert {"data/lab.toml", "data/README.md", "data/more.txt"} == set(
        re.findall(r"data/\S+\b", str(refused.value))
    )


def test_an_archive_of_a_newer_version_or_of_a_lab_that_is_here_is_refused(unpacked, db):
    with pytest.raises(UserError, match="There is a lab 'demo' here already"):
        restore_lab(unpacked)
    tables = unpacked / "data" / "tables"
    known = json.loads((tables / "columns.json").read_text(encoding="utf-8"))
    known["core.lab"] |= {"motto": "Char"}
    (tables / "columns.json").write_text(json.dumps(known))

    reader = TableReader(data=SourceFolder(tables.parent))
    with pytest.raises(UserError, match="columns that this version of ArqLab does not know: motto"):
        reader.read()


def test_a_published_archive_has_what_is_released_and_nobody_s_name(whole_lab, db, tmp_path):
    archive = archive_lab(whole_lab, path=tmp_path / "lab.zip", published=True)
    files = contents(archive.path)
    text = b"\n".join(files.values()).decode("latin-1")

    released = {task.slug for task in whole_lab.tasks.all() if released_leaderboard(task)}
    paths = {
        name.split("/")[2]
        for name in files
        if name.endswith(("qrels.tsv", "judgments.tsv")) and "/site/" not in name
    }
    assert paths == released
    assert len(released) < whole_lab.tasks.count()
    assert not [name for name in files if "/tables/" in name or "/files/" in name]
    assert_whole_site({name.removeprefix("demo/data/site/"): files[name] for name in files})
    organizers = {"Orsolya Brandt"}  # whom the citation names
    for person in User.objects.filter(memberships__isnull=False):
        name = person.name.encode().decode("latin-1")
        assert person.email not in text
        assert person.name in organizers or name not in text
    with pytest.raises(UserError, match="has no tables, because it was published"):
        restore_lab(archive.path)

    destroy(whole_lab)
    with zipfile.ZipFile(archive.path) as zipped:
        zipped.extractall(tmp_path)
    call_command("load_lab", tmp_path / "demo/data", stdout=StringIO(), stderr=StringIO())

    assert {version.task.slug for version in QrelSet.objects.all()} == released


def test_published_guidelines_are_sanitized_as_on_the_page(whole_lab, db, tmp_path):
    hostile = '<h2>Rate $x^2$</h2><script>alert(1)</script><img src="x" onerror="alert(2)">'
    [task] = [task for task in whole_lab.tasks.all() if released_leaderboard(task)][:1]
    write_guideline(task=task, text=hostile, at=timezone.now(), by=None)

    archive = archive_lab(whole_lab, path=tmp_path / "lab.zip", published=True)

    text = contents(archive.path)[f"demo/data/{task.slug}/guidelines.html"].decode()
    assert "script" not in text
    assert "onerror" not in text
    assert "x^2" in text


def test_both_archives_have_the_certificate_of_the_page(whole_lab, archived, db, tmp_path):
    published = archive_lab(whole_lab, path=tmp_path / "lab.zip", published=True)
    [leaderboard] = filter(None, map(released_leaderboard, whole_lab.tasks.filter(slug="task1")))
    frames = certificate_frames(certification_of(leaderboard.qrel_set))

    for files in (contents(archived), contents(published.path)):
        for part, frame in frames.items():
            rows = files[f"demo/data/task1/certificate.{part}.tsv"].decode().splitlines()
            assert rows == frame_text(frame).splitlines()
    assert frames["teams"].height > 10


def assert_whole_site(files: dict[str, bytes]) -> None:
    """Check that the pages have no scripts, and that all of their links lead to files."""
    pages = {name: html.fromstring(files[name]) for name in files if name.endswith("index.html")}
    assert {"index.html", "tasks/task1/leaderboard/index.html"} <= pages.keys()
    assert "0.8715" in pages["tasks/task1/leaderboard/index.html"].text_content()
    assert not [page for page in pages.values() if page.xpath("//script | //form | //*[@onclick]")]
    links = {
        (name, normpath(join(dirname(name), unquote(urldefrag(link).url))))
        for name, page in pages.items()
        for element, attribute, link, _ in page.iterlinks()
        if attribute and not link.startswith(("#", "http", "data:"))
    }
    assert len(links) > 1_000
    assert [(name, link) for name, link in links if link not in files] == []


def figures(lab: Lab) -> list[tuple[str, str, list[float | None]]]:
    """Return the runs and all values of the released boards of a lab."""
    boards = filter(None, map(released_leaderboard, lab.tasks.all()))
    rows = [row for board in boards for row in released_board(board).rows]
    assert len(rows) > 20
    return [(row.run.team, row.run.label, [cell.value for cell in row.cells]) for row in rows]


def test_an_organizer_writes_an_archive_and_downloads_it(whole_lab, db, client_of):
    client = client_of(User.objects.get(username="organizer"))
    page = client.post("/labs/demo/archives/new/", {"published": False})
    run_next_job(at=timezone.now())

    shown = client.get(page.headers["Location"])
    file = client.get(f"{page.headers['Location']}archive.zip")

    assert "Download archive" in shown.content.decode()
    with zipfile.ZipFile(io.BytesIO(b"".join(file))) as zipped:
        assert "demo/data/tables/core.lab.jsonl" in zipped.namelist()
    assert (
        client_of(User.objects.get(username="mira")).get(f"{page.url}archive.zip").status_code
        == 404
    )
