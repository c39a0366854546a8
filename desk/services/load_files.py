"""The files of a load, stored unchanged below `loads/` in the folder of files, and read there."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.uploadedfile import TemporaryUploadedFile

from arqkit.records import FileRefusedError, Problem
from arqlab.core.models import Job

Uploads = Mapping[str, Iterable[File]]
"""The uploaded files by the form's field."""


def load_folder(load: Job) -> Path:
    """Return the folder of a load's files."""
    return Path(settings.MEDIA_ROOT) / "loads" / load.folder


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
    """Store a file and return its size and SHA-256. A large one is moved, without a copy."""
    digest, size = hashlib.sha256(), 0
    # A new file: the old one may be linked to where it was unpacked.
    path.unlink(missing_ok=True)
    is_moved = _moved(file, path)
    with path.open("rb" if is_moved else "wb") as out:
        for chunk in file.chunks():
            if not is_moved:
                out.write(chunk)
            digest.update(chunk)
            size += len(chunk)
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
