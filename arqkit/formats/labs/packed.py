"""Unpack an uploaded lab: a lab.toml with its files, or an archive of the lab's folder."""

import os
import shutil
import tarfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from arqkit.records import FileRefusedError

TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
SPARE = 2**30
"""Bytes of the disk that an unpacked archive leaves free."""
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)


def unpack_lab(sent: Path, to: Path) -> Path:
    """Unpack the files in the folder `sent` into `to`, and return the folder of the lab.toml.

    Files sent without their folders are put where the lab.toml names them. Raise FileRefusedError
    if an archive is damaged or too large for the disk, or if there is not exactly one lab.toml.
    """
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for file in sorted(sent.iterdir()):
        unpack_file(file, to)
    paths = [path for path in to.rglob("lab.toml") if "__MACOSX" not in path.parts]
    least = min((len(path.parts) for path in paths), default=0)
    tops = [path for path in paths if len(path.parts) == least]
    if len(tops) != 1:
        actual = f"{len(tops)} files named lab.toml" if tops else "no lab.toml"
        raise FileRefusedError.of(
            "lab.toml", actual, "one lab.toml", "Add the lab.toml of one lab."
        )
    _place_named_files(tops[0])
    return tops[0].parent


def unpack_file(file: Path, to: Path) -> None:
    """Unpack an archive into a folder, or put any other file there; refuse a damaged archive."""
    name = file.name.lower()
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(file) as archive:
                # Paths outside the folder become paths inside it.
                _require_room(sum(member.file_size for member in archive.infolist()), file, to)
                archive.extractall(to)  # noqa: S202
        elif name.endswith(TARS):
            with tarfile.open(file) as packed:
                _require_room(sum(member.size for member in packed.getmembers()), file, to)
                # The filter refuses files outside the folder, links and devices.
                packed.extractall(to, filter="data")
        else:
            link_file(file, to / file.name)
    except _DAMAGE as error:
        actual, todo = f"a damaged archive ({error})", "Create the archive again."
        raise FileRefusedError.of(
            file.name, actual, "a zip or tar archive without a password", todo
        ) from error


def _require_room(size: int, file: Path, to: Path) -> None:
    room = shutil.disk_usage(to).free - SPARE
    if size > room:
        actual = f"{size / 1e9:,.1f} GB of files"
        expected = f"at most {max(room, 0) / 1e9:,.1f} GB, the free space on the server"
        todo = "Ask the administrators for more space, or load the folder with manage.py load_lab."
        raise FileRefusedError.of(file.name, actual, expected, todo)


def _place_named_files(toml: Path) -> None:
    """Put files that lie beside the lab.toml where it names them: a browser sends no folders."""
    with suppress(OSError, ValueError):  # reading the lab reports them
        for name in _texts(tomllib.loads(toml.read_text(encoding="utf-8-sig"))):
            path = PurePosixPath(name)
            beside = toml.parent / path.name
            if len(path.parts) < 2 or path.is_absolute() or ".." in path.parts:
                continue
            if beside.is_file() and not (toml.parent / path).exists():
                (toml.parent / path).parent.mkdir(parents=True, exist_ok=True)
                link_file(beside, toml.parent / path)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def link_file(file: Path, to: Path) -> None:
    """Make a file appear at a second path, without a copy where the file system can."""
    try:
        os.link(file, to)
    except OSError:
        shutil.copyfile(file, to)
