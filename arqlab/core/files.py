"""Where files are kept: on a disk here, or in a bucket (`arqlab.core.buckets`), by the same names.

What a file holds never changes: each gets a name of its own. It is whole and safe before a row
refers to it, or not there at all.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import NotRequired, TypedDict, cast

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, default_storage
from django.utils.crypto import get_random_string


class Scan(TypedDict):
    """The arguments with which polars scans a Parquet file."""

    source: str | BytesIO
    storage_options: NotRequired[dict[str, str]]


class KeptFiles(Storage):
    """What every storage of our files does, by Django's own methods unless it knows better ones.

    All methods raise `OSError` if the storage fails.
    """

    def get_alternative_name(self, file_root: str, file_ext: str) -> str:
        """Return a name that no other file ever has."""
        return f"{file_root}_{get_random_string(12)}{file_ext}"

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return a name for a new file, unlike all others also when two come at once."""
        unique_name = self.get_alternative_name(*os.path.splitext(name))
        return super().get_available_name(unique_name, max_length)

    place: str
    """Where the files are, in words."""

    def replace(self, name: str, content: File) -> None:
        """Store a file under this name, in place of another."""
        self._save(name, content)  # type: ignore[attr-defined]  # the stubs leave it out

    def folders(self, folder: str = "") -> list[str]:
        """Return the names of the folders in a folder, sorted; none if it does not exist."""
        return self._listed(folder)[0]

    def names(self, folder: str = "") -> Iterator[str]:
        """Yield the names of all files below a folder, sorted within each folder."""
        folders, names = self._listed(folder)
        below = f"{folder}/" if folder else ""
        yield from (below + name for name in names)
        for each in folders:
            yield from self.names(below + each)

    def _listed(self, folder: str) -> tuple[list[str], list[str]]:
        try:
            folders, names = self.listdir(folder)
        except FileNotFoundError:
            return [], []
        return sorted(folders), sorted(names)

    def move(self, name: str, to: str) -> None:
        """Rename a file."""
        with self.open(name) as file:
            self.replace(to, file)
        self.delete(name)

    def delete_folder(self, folder: str) -> None:
        """Delete all files below a folder."""
        for name in list(self.names(folder)):
            self.delete(name)

    def local(self, name: str, path: Path) -> Path:
        """Return where a file lies on this machine; if nowhere, it is copied to the path first."""
        with self.open(name) as file, path.open("wb") as out:
            shutil.copyfileobj(file, out)
        return path

    def scanned(self, name: str) -> Scan:
        """Return the arguments with which polars scans a Parquet file."""
        with self.open(name) as file:
            return {"source": BytesIO(file.read())}

    def require(self) -> None:
        """Raise `OSError` if the storage cannot be used."""


class DurableStorage(KeptFiles, FileSystemStorage):
    """Files that survive the end of the process, of the system and of the power.

    A file is written under another name first, so that neither a full disk nor a kill leaves the
    beginning of one.
    """

    def _save(self, name: str, content: object) -> str:
        """Return the name under which a file is stored; raises `OSError` and leaves nothing."""
        part = f"{name}.{secrets.token_hex(8)}.part"
        with _written(Path(self.path(part))):
            super()._save(part, content)  # type: ignore[misc]  # the stubs leave it out
        self._put(part, name)
        return name

    @property
    def place(self) -> str:  # type: ignore[override]
        """Return the folder."""
        return str(self.location)

    def move(self, name: str, to: str) -> None:
        """Rename a file."""
        Path(self.path(to)).parent.mkdir(parents=True, exist_ok=True)
        self._put(name, to)

    def delete_folder(self, folder: str) -> None:
        """Delete a folder and all below it."""
        shutil.rmtree(self.path(folder), ignore_errors=True)

    def local(self, name: str, path: Path) -> Path:
        """Return the path of a file."""
        return Path(self.path(name))

    def scanned(self, name: str) -> Scan:
        """Return the arguments with which polars reads no more of a file than it needs."""
        return {"source": self.path(name)}

    def _put(self, name: str, to: str) -> None:
        """Move a written file to its name, in place of another; its folders are written through."""
        path = Path(self.path(to))
        Path(self.path(name)).replace(path)
        for folder in path.parents:
            if folder.is_relative_to(self.location):
                _write_through(folder)


class FileAt(File):
    """A file of this machine, which a storage on the same disk moves instead of copying it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.open("rb"), name=str(path))

    def temporary_file_path(self) -> str:
        """Return the path of the file, which Django moves to its place instead of copying it."""
        return str(self.name)


kept = cast(KeptFiles, default_storage)
"""The storage of this server's files."""


def sha256_of(file: File) -> str:
    """Return the SHA-256 of what a file holds."""
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _written(part: Path) -> Iterator[None]:
    """Flush the file that the block writes to the disk, or delete it if either fails."""
    try:
        yield
        _write_through(part)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _write_through(path: Path) -> None:
    # Else a power loss could leave the new name with an empty file.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
