"""Unpack an upload into run files: a plain or gzipped run, or a zip of several.

Nothing here trusts the sender.
"""

import io
import posixpath
import struct
import zipfile
import zlib
from collections import Counter
from typing import BinaryIO

from arqkit.formats.archives.run_files import (
    MAX_NAME,
    MAX_RUN_BYTES,
    MEBIBYTE,
    ZIP,
    ByteBudget,
    MemberRefusedError,
    Unpacked,
    UploadLimits,
    first_bytes,
    read_member,
)
from arqkit.records import FileRefusedError

MAX_BYTES = 64 * MEBIBYTE
MAX_LINES = 500_000
MAX_MEMBERS = 200
MAX_DIRECTORY_BYTES = MEBIBYTE  # of the central directory of a zip
TAIL = 65_536 + 64  # where a zip ends: its end record, a comment, the locator of ZIP64
ZIP_END, ZIP64_LOCATOR = b"PK\x05\x06", b"PK\x06\x07"
END_RECORD = struct.Struct("<4s4H2LH")
ENCRYPTED = 0x1
# A ValueError comes from offsets before the beginning of a zip and from names that are not UTF-8.
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)
OFFICE_MEMBERS = ("[Content_Types].xml", "mimetype", "META-INF/")


class UploadRefusedError(FileRefusedError):
    """An upload cannot be unpacked into run files; holds all of its problems."""


def zip_members(file: BinaryIO, *, name: str, max_bytes: int = MAX_BYTES) -> list[str]:
    """Return the paths of the run files in a zip, from its central directory; none for other files.

    Raise UploadRefusedError, as `unpack` does, if the zip cannot be listed or has no run file.
    """
    try:
        if not first_bytes(file).startswith(ZIP):
            return []
        _check_directory(file)
        with zipfile.ZipFile(file) as archive:
            return [
                member.filename
                for member in _members(archive, UploadLimits(ByteBudget(max_bytes), MAX_LINES))
            ]
    except MemberRefusedError as refused:
        raise UploadRefusedError([refused.at(name)]) from None
    except DAMAGE as error:
        raise UploadRefusedError([_damaged_zip(error).at(name)]) from error


def unpack(
    file: BinaryIO,
    *,
    name: str,
    max_bytes: int = MAX_BYTES,
    max_lines: int = MAX_LINES,
    max_run_bytes: int = MAX_RUN_BYTES,
    only: str | None = None,
) -> list[Unpacked]:
    """Return the run files of an upload: a plain or gzipped file, or each file of a zip.

    `file` must be seekable. `max_bytes` limits the whole upload when unpacked, `max_lines` and
    `max_run_bytes` each run. `only` is the path of one member of a zip (`zip_members`); no other is
    read. Raise UploadRefusedError with every problem. Reading stops at a limit, so a zip bomb costs
    no more than the largest run.
    """
    limits = UploadLimits(ByteBudget(max_bytes), max_lines, max_run_bytes, only)
    try:
        if first_bytes(file).startswith(ZIP):
            return _from_zip(file, name, limits)
        return [read_member(file, name, limits)]
    except MemberRefusedError as refused:
        raise UploadRefusedError([refused.at(name)]) from None


def _from_zip(file: BinaryIO, name: str, limits: UploadLimits) -> list[Unpacked]:
    """Read every file of a zip, and report each one that is not a run."""
    _check_directory(file)
    runs, problems = [], []
    try:
        with zipfile.ZipFile(file) as archive:
            for member in _members(archive, limits):
                try:
                    runs.append(_from_member(archive, member, limits))
                except MemberRefusedError as refused:
                    problems.append(refused.at(f"{name}/{member.filename[:MAX_NAME]}"))
                    if limits.budget.left < 0:
                        break
    except DAMAGE as error:
        raise _damaged_zip(error) from error
    if problems:
        raise UploadRefusedError(problems)
    return runs


def _members(archive: zipfile.ZipFile, limits: UploadLimits) -> list[zipfile.ZipInfo]:
    """Return the members that are files, without those that operating systems add."""
    names = archive.namelist()
    if any(name.startswith(OFFICE_MEMBERS) for name in names):
        raise MemberRefusedError(
            "an Office document or a software package", todo="Save the table as tab-separated text."
        )
    if len(names) > MAX_MEMBERS:
        raise MemberRefusedError(
            f"a zip with {len(names):,} files", expected=f"at most {MAX_MEMBERS:,} files"
        )
    members = [
        member
        for member in archive.infolist()
        if not (member.is_dir() or _is_of_system(member.filename))
    ]
    [(path, times)] = Counter(member.filename for member in members).most_common(1) or [("", 0)]
    if times > 1:
        raise MemberRefusedError(
            f"a zip with {times} files named {path[:MAX_NAME]}",
            todo="Rename the files, so that each has its own name.",
        )
    if limits.only is not None:
        members = [member for member in members if member.filename == limits.only][:1]
    if not members:
        raise MemberRefusedError("a zip without files" + (", only folders" if names else ""))
    limits.budget.check(sum(member.file_size for member in members))
    return members


def _damaged_zip(error: Exception) -> MemberRefusedError:
    return MemberRefusedError(f"a damaged zip ({error})", todo="Create the zip again.")


def _is_of_system(path: str) -> bool:
    name = posixpath.basename(path)
    return (
        path.startswith("__MACOSX/")
        or name.startswith("._")
        or name in {".DS_Store", "Thumbs.db", "desktop.ini"}
    )


def _from_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: UploadLimits
) -> Unpacked:
    if member.flag_bits & ENCRYPTED:
        raise MemberRefusedError(
            "a file with a password", todo="Create the zip without a password."
        )
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise MemberRefusedError(
            "an unusual compression method", todo="Create an ordinary zip (deflate)."
        )
    try:
        with archive.open(member) as stream:
            return read_member(stream, member.filename, limits)
    except DAMAGE as error:
        raise MemberRefusedError(
            f"damaged data ({error})", todo="Create the zip again and upload it."
        ) from error


def _check_directory(file: BinaryIO) -> None:
    """Refuse a zip with a huge central directory: `ZipFile` would read all of it into objects."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - TAIL, 0))
    tail = file.read(TAIL)
    file.seek(0)
    if ZIP64_LOCATOR in tail:
        raise MemberRefusedError(
            "a zip in the format for huge archives (ZIP64)", todo="Pack fewer files."
        )
    at = tail.find(ZIP_END)
    while at >= 0:
        record = tail[at : at + END_RECORD.size]
        if len(record) == END_RECORD.size and END_RECORD.unpack(record)[5] > MAX_DIRECTORY_BYTES:
            raise MemberRefusedError(
                "a zip with too many files", expected=f"at most {MAX_MEMBERS:,} files"
            )
        at = tail.find(ZIP_END, at + 1)
