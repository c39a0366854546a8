"""Removal of files that no row refers to, and of unpacked copies.

Unused files are first put aside in `unused/DATE`, from where an administrator can take them back,
and deleted later. Nothing that a row refers to is touched: no upload, report or index of a run, and
no file of a load, refused ones included.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import models, transaction

from arqlab.core.models import Job
from desk.services.load_files import load_folder

log = logging.getLogger(__name__)
RUN_FOLDERS = ("uploads", "indexes", "reports")
LOADS, INCOMING, UNUSED = "loads", "incoming", "unused"
LEAST_AGE = timedelta(days=1)
"""The age from which a file counts as unused: files are stored before the rows that refer to them,
but never this long before."""
KEPT_FOR = timedelta(days=30)
"""How long unused files are kept aside before they are deleted."""


def sweep_files(*, at: datetime) -> int:
    """Put unused files aside, and delete those put aside long ago. Return how many were put aside.

    Unpacked copies of loads that are over are deleted at once, because a repeated load unpacks
    again, and so are the beginnings of files whose upload did not end.
    """
    root = Path(settings.MEDIA_ROOT)
    unused = list(_unused_paths(root, at))
    for path in unused:
        aside = root / UNUSED / at.astimezone(UTC).date().isoformat() / path.relative_to(root)
        aside.parent.mkdir(parents=True, exist_ok=True)
        path.rename(aside)
        log.info("No row refers to %s. It was moved to %s.", path, aside)
    _delete_unpacked(at)
    for path in (root / INCOMING).glob("*"):
        if _is_old(path, at):  # the upload ended without a form
            path.unlink(missing_ok=True)
    for folder in _folders(root / UNUSED):
        if _is_day_before(folder.name, (at - KEPT_FOR).astimezone(UTC).date()):
            shutil.rmtree(folder)
            log.info("The unused files in %s were deleted.", folder)
    return len(unused)


def _unused_paths(root: Path, at: datetime) -> Iterator[Path]:
    """Yield the files of runs and the folders of loads that are old and that no row refers to."""
    # List the files before the rows: a file whose row is stored in between is too new to move.
    files = [path for name in RUN_FOLDERS for path in (root / name).rglob("*") if path.is_file()]
    folders = _folders(root / LOADS)
    names, known = set(_names_of_runs()), set(Job.objects.values_list("folder", flat=True))
    for path in files:
        if path.relative_to(root).as_posix() not in names and _is_old(path, at):
            yield path
    for folder in folders:
        if folder.name not in known and all(_is_old(path, at) for path in _tree(folder)):
            yield folder


def _names_of_runs() -> Iterator[str]:
    """Yield the names in all file fields of uploads and runs."""
    for model in apps.get_app_config("submissions").get_models():
        for field in model._meta.get_fields():
            if isinstance(field, models.FileField):
                yield from model._default_manager.values_list(field.name, flat=True).iterator()


def _delete_unpacked(at: datetime) -> None:
    over = Job.objects.filter(updated_at__lt=at - LEAST_AGE).exclude(
        state__in=[Job.State.WAITING, Job.State.RUNNING]
    )
    for pk in over.values_list("pk", flat=True):
        with transaction.atomic():  # a load that is repeated now waits for the lock
            load = over.select_for_update().filter(pk=pk).first()
            if load and (unpacked := load_folder(load) / "unpacked").exists():
                shutil.rmtree(unpacked)
                log.info("The unpacked copy %s was deleted.", unpacked)


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []


def _tree(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.rglob("*")


def _is_old(path: Path, at: datetime) -> bool:
    try:
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except FileNotFoundError:  # it was deleted since it was listed
        return False
    return changed < at - LEAST_AGE


def _is_day_before(name: str, day: date) -> bool:
    try:
        return date.fromisoformat(name) < day
    except ValueError:  # a folder of another origin
        return False
