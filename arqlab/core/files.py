"""Stored files: whole and on the disk before a row refers to them, or not there at all.

A file is written under another name first, so that neither a full disk nor a kill leaves the
beginning of one.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import FileSystemStorage


class DurableStorage(FileSystemStorage):
    """Files that survive the end of the process, of the system and of the power."""

    def _save(self, name: str, content: Any) -> str:
        """Return the name under which a file is stored; raises `OSError` and leaves nothing."""
        part = f"{name}.{secrets.token_hex(8)}.part"
        with written(Path(self.path(part))):
            super()._save(part, content)  # type: ignore[misc]  # the stubs leave it out
        name = self._new_name(name)
        put(Path(self.path(part)), Path(self.path(name)))
        return name

    def _new_name(self, name: str) -> str:
        """Return a name that nobody else takes; an empty file holds it until it is replaced."""
        while True:
            try:
                Path(self.path(name)).touch(exist_ok=False)
            except FileExistsError:
                name = self.get_available_name(name)
            else:
                return name


@contextmanager
def written(part: Path) -> Iterator[None]:
    """Flush the file that the block writes to the disk, or delete it if either fails."""
    try:
        yield
        _write_through(part)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def put(part: Path, path: Path) -> None:
    """Move a written file to its name, in place of another; its folders are written through."""
    part.replace(path)
    root = Path(settings.MEDIA_ROOT)
    for folder in path.parents:
        if folder.is_relative_to(root):
            _write_through(folder)


def _write_through(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
