"""A lab is archived, destroyed and restored, and its archive is the same again."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import models
from django.test import override_settings
from django.utils import timezone

from arqlab.core.models import Job, Lab, User
from assessment.models import DuplicatePosts, Judgment
from desk.services.archive_tables import LEFT_OUT, lab_models, models_of_apps
from desk.services.lab_archives import archive_lab, restore_lab
from evaluation.selectors.boards import released_board, released_leaderboard


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


def destroy(lab: Lab) -> None:
    """Delete all rows of a lab and the people, so that new rows get other keys."""
    for model, lookup in reversed(lab_models().items()):
        rows = list(model._base_manager.filter(**{lookup: lab.pk}).values_list("pk", flat=True))
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
    assert set(models_of_apps()) - LEFT_OUT.keys() == {*lab_models(), User}
    assert not LEFT_OUT.keys() & lab_models().keys()


def test_a_lab_is_destroyed_and_restored_and_archived_again(whole_lab, db, tmp_path):
    before, key = figures(whole_lab), Judgment.objects.first().pk
    archive = archive_lab(whole_lab, path=tmp_path / "one.zip", with_posts=True)
    assert all(archive.counts.values()), archive.counts

    destroy(whole_lab)
    lab = restore_lab(archive.path)
    archive_lab(lab, path=tmp_path / "two.zip", with_posts=True)

    assert contents(tmp_path / "two.zip") == contents(tmp_path / "one.zip")
    assert figures(lab) == before
    assert Judgment.objects.first().pk != key


def figures(lab: Lab) -> list[tuple[str, str, list[float | None]]]:
    """Return the runs and all values of the released boards of a lab."""
    boards = filter(None, map(released_leaderboard, lab.tasks.all()))
    rows = [row for board in boards for row in released_board(board).rows]
    assert len(rows) > 20
    return [(row.run.team, row.run.label, [cell.value for cell in row.cells]) for row in rows]
