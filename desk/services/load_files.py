"""Stored files: those of loads, and those that nothing uses any more.

The files of a load are stored unchanged below `loads/` in the folder of files, and read there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import transaction

from arqkit.records import FileRefusedError, Problem
from arqlab.core.files import put, written
from arqlab.core.models import Job
from arqlab.core.selectors import named_files
from submissions.services.storage import expire_runs

Uploads = Mapping[str, Iterable[File]]
"""The uploaded files by the form's field."""


def load_folder(load: Job) -> Path:
    """Return the folder of a load's files."""
    return Path(settings.MEDIA_ROOT) / LOADS / load.folder


def sent_folder(load: Job, field: str) -> Path:
    """Return the folder of the files that were sent in a field."""
    return load_folder(load) / "sent" / field


def sent_files(load: Job, field: str) -> list[Path]:
    """Return the files that were sent in a field."""
    folder = sent_folder(load, field)
    return sorted(folder.iterdir()) if folder.is_dir() else []


def store_files(load: Job, uploads: Uploads, *, replaced: Iterable[str] = ()) -> None:
    """Store the files of a load, and note their names and SHA-256.

    A file replaces an earlier one with its name; those of the fields `replaced` replace all files
    of the field.
    """
    known = {(file["field"], file["name"]): file for file in load.files}
    for field, files in uploads.items():
        given, folder = list(files), sent_folder(load, field)
        if given and field in replaced:
            shutil.rmtree(folder, ignore_errors=True)
            known = {key: file for key, file in known.items() if key[0] != field}
        folder.mkdir(parents=True, exist_ok=True)
        for file in given:
            name = _safe_name(str(file.name))
            size, digest = _store(file, folder / name)
            known[field, name] = {"field": field, "name": name, "size": size, "sha256": digest}
    load.files = list(known.values())


def _store(file: File, path: Path) -> tuple[int, str]:
    """Store a file and return its size and SHA-256. A large one is moved, without a copy.

    A new file replaces an old one, which may be linked to where it was unpacked.
    """
    digest, size = hashlib.sha256(), 0
    part = path.parents[2] / f"{secrets.token_hex(8)}.part"  # beside what was sent
    with written(part):
        is_moved = _moved(file, part)
        with part.open("rb" if is_moved else "wb") as out:
            for chunk in file.chunks():
                if not is_moved:
                    out.write(chunk)
                digest.update(chunk)
                size += len(chunk)
    put(part, path)
    return size, digest.hexdigest()


def _moved(file: File, path: Path) -> bool:
    """Link an uploaded file that is on disk to its path; its temporary name is deleted on close.

    Return False if it is in memory or on another file system.
    """
    if not isinstance(file, TemporaryUploadedFile):
        return False
    try:
        file.flush()
        os.link(file.temporary_file_path(), path)
        path.chmod(settings.FILE_UPLOAD_PERMISSIONS)
    except OSError:
        path.unlink(missing_ok=True)
        return False
    return True


def _safe_name(name: str) -> str:
    """Return a file name without folders that every file system takes."""
    last = PurePosixPath(name.replace("\\", "/")).name.encode(errors="replace").decode()
    kept = "".join("_" if sign in '<>:"|?*\0' else sign for sign in last)[-120:]
    return kept if kept.strip(".") else "file"


def read_sent(
    problems: list[Problem], load: Job, field: str, read: Callable[[bytes, str], Any]
) -> Any:
    """Return the content of the file of a field, or None with its problems or without a file."""
    return read_path(problems, load, field, lambda path: read(path.read_bytes(), path.name))


def read_path(problems: list[Problem], load: Job, field: str, read: Callable[[Path], Any]) -> Any:
    """Return what a reader makes of the first file of a field, or None as `read_sent` does."""
    files = sent_files(load, field)
    try:
        return read(files[0]) if files else None
    except FileRefusedError as refused:
        problems += refused.problems
        return None


log = logging.getLogger(__name__)
RUN_FOLDERS = ("uploads", "indexes", "reports")
LOADS, UNPACKED, INCOMING, UNUSED = "loads", "unpacked", "incoming", "unused"
LEAST_AGE = timedelta(days=1)
"""The age from which a file counts as unused: files are stored before the rows that refer to them,
but never this long before."""
KEPT_FOR = timedelta(days=30)
"""How long unused files are kept aside before they are deleted."""


def sweep_files(*, at: datetime) -> int:
    """Put unused files aside, and delete those put aside long ago. Return how many were put aside.

    The files of runs that expire are unused.

    Unpacked copies of loads that are over are deleted at once, because a repeated load unpacks
    again, and so are the beginnings of files whose upload did not end.
    """
    expire_runs(at=at)
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
    names, known = (
        set(named_files("submissions")),
        set(Job.objects.values_list("folder", flat=True)),
    )
    for path in files:
        if path.relative_to(root).as_posix() not in names and _is_old(path, at):
            yield path
    for folder in folders:
        if folder.name not in known and all(_is_old(path, at) for path in _tree(folder)):
            yield folder


def _delete_unpacked(at: datetime) -> None:
    over = Job.objects.filter(updated_at__lt=at - LEAST_AGE).exclude(
        state__in=[Job.State.WAITING, Job.State.RUNNING]
    )
    for pk in over.values_list("pk", flat=True):
        with transaction.atomic():  # a load that is repeated now waits for the lock
            load = over.select_for_update().filter(pk=pk).first()
            if load and (unpacked := load_folder(load) / UNPACKED).exists():
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
