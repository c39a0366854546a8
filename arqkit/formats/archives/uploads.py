"""Unpack an upload into run files: a plain or gzipped run, or a zip of several.

Nothing here trusts the sender.
"""

import gzip
import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections import Counter
from typing import IO, BinaryIO, NamedTuple

from arqkit.records import FileRefusedError, Problem

MEBIBYTE = 1024 * 1024
CHUNK = 64 * 1024  # less than the longest line
MAX_RUN_BYTES = 16 * MEBIBYTE  # of one run: checking takes about fifteen times as much memory
# Reading stops at a longer line, so that a file without line ends is not read to its end.
MAX_LINE_BYTES = 200_000
MAX_NAME = 200  # characters of a file name that are kept
# The first block of a tar archive, which ends with the mark of its format.
HEAD = 512
TAR_MARK = slice(257, 262)
MAGIC = {
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"7z\xbc\xaf'\x1c": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"(\xb5/\xfd": "a Zstandard file",
    b"PAR1": "a Parquet file",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"\x7fELF": "a program",
}
"""The kinds of files that cannot be a run, by their first bytes."""
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")

# Limits of an upload: its bytes and lines when it is unpacked, and its run files.
MAX_BYTES = 64 * MEBIBYTE
MAX_LINES = 500_000
MAX_MEMBERS = 200
MAX_DIRECTORY_BYTES = MEBIBYTE  # of the central directory of a zip
TAIL = 65_536 + 64  # where a zip ends: its end record, a comment, the locator of ZIP64

END_RECORD = struct.Struct("<4s4H2LH")
# Bit 0 of the flags of a member (APPNOTE.TXT 4.4.4).
ENCRYPTED = 0x1
# A ValueError comes from offsets before the beginning of a zip and from names that are not UTF-8.
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)
OFFICE_MEMBERS = ("[Content_Types].xml", "mimetype", "META-INF/")
OF_SYSTEM = re.compile(
    r"__MACOSX/|(?:.*/)?(?:\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)\Z", re.DOTALL
)

ZIP_END, ZIP64_LOCATOR = b"PK\x05\x06", b"PK\x06\x07"


class Unpacked(NamedTuple):
    """A run file of an upload: its name without folders and `.gz`, its bytes, its path in a zip."""

    name: str
    data: bytes
    path: str = ""


class MemberRefusedError(Exception):
    """One file of an upload is refused; `uploads.unpack` collects these."""

    def __init__(
        self,
        found: str,
        todo: str = "Upload the run file itself.",
        *,
        expected: str = "a run file: text in UTF-8, plain, gzipped or in a zip",
        line: int | None = None,
    ) -> None:
        super().__init__(found)
        self.found, self.expected, self.todo, self.line = found, expected, todo, line

    def at(self, path: str) -> Problem:
        """Return the problem of the file at a path."""
        return Problem(path, self.line, self.found, self.expected, self.todo)


class ByteBudget:
    """The number of bytes that may still be unpacked."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = self.left = max_bytes

    def spend(self, size: int) -> None:
        """Subtract the number of bytes that were read."""
        self.left -= size
        if self.left < 0:
            size = self.max_bytes
            limit = f"{size / MEBIBYTE:,.1f} MB" if size >= MEBIBYTE else f"{size:,} bytes"
            raise MemberRefusedError(
                f"more than {limit} when unpacked",
                "Upload fewer runs at a time, or check that you chose the right file.",
                expected=f"at most {limit}",
            )


class UploadLimits(NamedTuple):
    """The limits of an upload: bytes in all, lines and bytes per run, perhaps a single member."""

    budget: ByteBudget
    max_lines: int
    max_run_bytes: int = MAX_RUN_BYTES
    only: str | None = None


def read_member(stream: IO[bytes], name: str, limits: UploadLimits) -> Unpacked:
    """Read one run file, and unpack it if it is gzipped."""
    base = posixpath.basename(name.replace("\\", "/"))[:MAX_NAME]
    if not first_bytes(stream).startswith(GZIP):
        return Unpacked(base, _read_run(stream, limits), name)
    try:
        with gzip.GzipFile(fileobj=stream) as unzipped:
            return Unpacked(base.removesuffix(".gz"), _read_run(unzipped, limits), name)
    except EOFError as error:
        raise MemberRefusedError("a truncated gzip file", "Upload the complete file.") from error
    except (OSError, zlib.error) as error:
        raise MemberRefusedError(
            f"a damaged gzip file ({error})", "Compress the run again."
        ) from error


def _read_run(stream: IO[bytes] | gzip.GzipFile, limits: UploadLimits) -> bytes:
    """Read text chunk by chunk, and stop at the first sign that it is not a run."""
    head = first_bytes(stream)
    _check_kind(head)
    # A BytesIO and not a list of chunks, because it returns its bytes without a second copy.
    gathered, lines, open_bytes, run_budget = io.BytesIO(), 0, 0, ByteBudget(limits.max_run_bytes)
    while chunk := stream.read(CHUNK):
        limits.budget.spend(len(chunk))
        run_budget.spend(len(chunk))
        # A few null bytes are a fault of a text, which its report lists with all others.
        if chunk.count(0) * 4 > len(chunk):
            line = lines + chunk.count(b"\n", 0, chunk.index(0)) + 1
            raise MemberRefusedError("many null bytes, so it is not text", line=line)
        end = b"\n" if b"\n" in chunk else b"\r"
        first, last = chunk.find(end), chunk.rfind(end)
        open_bytes += len(chunk) if first < 0 else first
        if open_bytes > MAX_LINE_BYTES:
            raise MemberRefusedError(
                f"more than {MAX_LINE_BYTES:,} bytes in one line",
                "Check that each row ends with a line end.",
                expected="one line per item",
                line=lines + 1,
            )
        lines += chunk.count(end)
        if lines > limits.max_lines:
            raise MemberRefusedError(
                f"more than {limits.max_lines:,} lines",
                "Cut each topic to the task's limit of items per topic.",
                expected=f"at most {limits.max_lines:,} lines in a run",
            )
        open_bytes = open_bytes if first < 0 else len(chunk) - last - 1
        gathered.write(chunk)
    if not gathered.tell():
        raise MemberRefusedError("an empty file")
    return gathered.getvalue()


def first_bytes(stream: IO[bytes] | gzip.GzipFile) -> bytes:
    """Return the beginning of a file, and rewind it."""
    stream.seek(0)
    head = stream.read(HEAD)
    stream.seek(0)
    return head


def _check_kind(head: bytes) -> None:
    if head.startswith((GZIP, *ZIP)):
        raise MemberRefusedError("an archive inside an archive", "Pack the runs only once.")
    if head[TAR_MARK] == b"ustar":
        raise MemberRefusedError(
            "a tar archive", "Pack the runs as a zip, or upload them one by one."
        )
    for mark, kind in MAGIC.items():
        if head.startswith(mark):
            raise MemberRefusedError(kind)
    if encoding := _utf_16(head):
        raise MemberRefusedError(
            "text in UTF-16",
            f"Convert it to UTF-8, for example with iconv -f {encoding} -t UTF-8. Excel’s “Unicode "
            "Text” and > in Windows PowerShell write UTF-16.",
        )


def _utf_16(head: bytes) -> str | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    high, low = head[::2].count(0), head[1::2].count(0)
    # Every other byte of text in Latin letters and digits is null.
    if max(high, low) > len(head) // 4 > 4 * min(high, low):
        return "UTF-16LE" if low > high else "UTF-16BE"
    return None


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
            limits = UploadLimits(ByteBudget(max_bytes), MAX_LINES)
            return [member.filename for member in _members(archive, limits)]
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
            "an Office document or a software package", "Save the table as tab-separated text."
        )
    if len(names) > MAX_MEMBERS:
        raise _too_many_files(f"{len(names):,}")
    every = archive.infolist()
    members = [it for it in every if not (it.is_dir() or OF_SYSTEM.match(it.filename))]
    [(path, times)] = Counter(member.filename for member in members).most_common(1) or [("", 0)]
    if times > 1:
        raise MemberRefusedError(
            f"a zip with {times} files named {path[:MAX_NAME]}",
            "Rename the files, so that each has its own name.",
        )
    if limits.only is not None:
        members = [member for member in members if member.filename == limits.only][:1]
    if not members:
        raise MemberRefusedError(f"a zip without files{', only folders' if names else ''}")
    if (declared := sum(member.file_size for member in members)) > limits.budget.left:
        limits.budget.spend(declared)
    return members


def _damaged_zip(error: Exception) -> MemberRefusedError:
    return MemberRefusedError(f"a damaged zip ({error})", "Create the zip again.")


def _too_many_files(count: str) -> MemberRefusedError:
    return MemberRefusedError(
        f"a zip with {count} files", expected=f"at most {MAX_MEMBERS:,} files"
    )


def _from_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: UploadLimits
) -> Unpacked:
    if member.flag_bits & ENCRYPTED:
        raise MemberRefusedError("a file with a password", "Create the zip without a password.")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise MemberRefusedError(
            "an unusual compression method", "Create an ordinary zip (deflate)."
        )
    try:
        with archive.open(member) as stream:
            return read_member(stream, member.filename, limits)
    except DAMAGE as error:
        raise MemberRefusedError(
            f"damaged data ({error})", "Create the zip again and upload it."
        ) from error


def _check_directory(file: BinaryIO) -> None:
    """Refuse a zip with a huge central directory: `ZipFile` would read all of it into objects."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - TAIL, 0))
    tail = file.read(TAIL)
    file.seek(0)
    if ZIP64_LOCATOR in tail:
        raise MemberRefusedError(
            "a zip in the format for huge archives (ZIP64)", "Pack fewer files."
        )
    at = tail.find(ZIP_END)
    while at >= 0:
        record = tail[at : at + END_RECORD.size]
        if len(record) == END_RECORD.size and END_RECORD.unpack(record)[5] > MAX_DIRECTORY_BYTES:
            raise _too_many_files("too many")
        at = tail.find(ZIP_END, at + 1)
