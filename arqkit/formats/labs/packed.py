"""Unpack an uploaded lab: a lab.toml with its files, or an archive of the lab's folder."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from arqkit.formats.archives.folders import SourceFolder, checked_parts
from arqkit.formats.archives.unpacking import ARCHIVES, unpack_archive
from arqkit.formats.nested import toml_values
from arqkit.records import FileRefusedError


def unpack_lab(sent: SourceFolder, to: Path) -> SourceFolder:
    """Unpack the files in the folder `sent` into `to`, and return the folder of the lab.toml.

    Files sent without their folders are put where the lab.toml names them. Raise FileRefusedError
    if an archive is damaged or too large for the disk, or if there is not exactly one lab.toml.
    """
    unpack_files(sent, to)
    names = [name for name in SourceFolder(to).files(hidden=False) if is_lab_toml(name)]
    least = min((name.count("/") for name in names), default=0)
    tops = [name for name in names if name.count("/") == least]
    if len(tops) != 1:
        actual = f"{len(tops)} files named lab.toml" if tops else "no lab.toml"
        raise FileRefusedError.of(
            "lab.toml", actual, "one lab.toml", "Add the lab.toml of one lab."
        )
    folder = SourceFolder((to / tops[0]).parent)
    _place_named_files(folder)
    return folder


def is_lab_toml(name: str) -> bool:
    """Return whether the path of a file is that of a lab.toml."""
    return PurePosixPath(name).name == "lab.toml"


def unpack_files(sent: SourceFolder, to: Path) -> None:
    """Unpack the archives in the folder `sent` into the empty folder `to`, with all other files.

    Raise FileRefusedError for a damaged archive, or one that `unpack_archive` refuses.
    """
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for file in sent.files().values():
        place_file(file.path, to)


def place_file(file: Path, to: Path) -> None:
    """Unpack an archive into a folder, or put any other file there."""
    if file.name.lower().endswith(ARCHIVES):
        unpack_archive(file, to)
    else:
        link_file(file.resolve(), to / file.name)


def _place_named_files(folder: SourceFolder) -> None:
    """Put files that lie beside the lab.toml where it names them: a browser sends no folders."""
    with suppress(FileRefusedError, ValueError):  # reading the lab reports them
        text = (folder / "lab.toml").content().decode("utf-8-sig")
        for name in _texts(toml_values(text)):
            with suppress(FileRefusedError, OSError):
                *above, last = checked_parts(name)
                beside, place = folder / last, folder.root.joinpath(*above, last)
                if above and not beside.is_folder and not place.exists():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    link_file(beside.path, place)


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
