"""Unpacking what a team sends: a run file as it is, gzipped, or several in a zip. Nothing here
trusts the sender.
"""

import gzip
import io
import posixpath
import struct
import zipfile
import zlib
from collections import Counter
from typing import IO, BinaryIO, NamedTuple

from arqlab.ir.records import FileRefusedError, Problem

MEBIBYTE = 1024 * 1024
CHUNK = 64 * 1024  # less than the longest line
MAX_BYTES = 64 * MEBIBYTE
MAX_RUN_BYTES = 16 * MEBIBYTE  # of one run: checking takes about fifteen times that
MAX_LINES = 500_000
MAX_LINE_BYTES = 200_000
MAX_MEMBERS = 200
MAX_DIRECTORY_BYTES = MEBIBYTE  # of a zip: its table of contents
MAX_NAME = 200  # characters of a file name that are kept
HEAD = 512
TAR_MARK = slice(257, 262)
TAIL = 65_536 + 64  # where a zip ends: its end record, a comment, the locator of ZIP64
ZIP_END, ZIP64_LOCATOR = b"PK\x05\x06", b"PK\x06\x07"
END_RECORD = struct.Struct("<4s4H2LH")
ENCRYPTED = 0x1
# ValueError is for places before a zip's beginning and for names that are not UTF-8.
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)
OFFICE_MEMBERS = ("[Content_Types].xml", "mimetype", "META-INF/")
RUN_FILE = "a run file: text in UTF-8, plain, gzipped or in a zip"
SEND_RUN = "Send the run file itself."

# What a file is by its first bytes, when it is nothing that holds a run.
MAGIC = (
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"PAR1", "a Parquet file"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"\x7fELF", "a program"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
)
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")


class Unpacked(NamedTuple):
    """One run file of an upload: its name without folders and `.gz`, its bytes, and its path inside
    an archive.
    """

    name: str
    data: bytes
    path: str = ""


class UploadRefusedError(FileRefusedError):
    """An upload cannot be unpacked into run files. Holds every problem of it."""


class _RefusedError(Exception):
    """One file of the upload is refused; `unpack` gathers these."""

    def __init__(
        self, found: str, *, expected: str = RUN_FILE, todo: str = SEND_RUN, line: int | None = None
    ) -> None:
        super().__init__(found)
        self.found, self.expected, self.todo, self.line = found, expected, todo, line

    def at(self, path: str) -> Problem:
        """Return which file it is about."""
        return Problem(path, self.line, self.found, self.expected, self.todo)


class _Budget:
    """How many bytes may still be unpacked, over all files of an upload."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = self.left = max_bytes

    def check(self, size: int) -> None:
        """Refuse what is larger than what is left, by what it says of itself."""
        if size > self.left:
            self.spend(size)

    def spend(self, size: int) -> None:
        """Take off what was read."""
        self.left -= size
        if self.left < 0:
            found, most = (
                f"more than {self.max_bytes:,} bytes when unpacked",
                f"at most {self.max_bytes:,} bytes",
            )
            todo = "Send fewer runs at a time, or look whether the file is what you meant to send."
            raise _RefusedError(found, expected=most, todo=todo)


class _Limits(NamedTuple):
    """What may be read: bytes over all files of an upload, lines of each run, and of a zip perhaps
    one member only.
    """

    budget: _Budget
    max_lines: int
    max_run_bytes: int = MAX_RUN_BYTES
    only: str | None = None


def zip_members(file: BinaryIO, *, name: str, max_bytes: int = MAX_BYTES) -> list[str]:
    """Return the paths of the run files in a zip by its table of contents; none when the upload is no
    zip.

    Raises UploadRefusedError as `unpack` does when the zip cannot be listed or holds no run file.
    """
    try:
        if not _head(file).startswith(ZIP):
            return []
        _check_directory(file)
        with zipfile.ZipFile(file) as archive:
            return [
                member.filename
                for member in _members(archive, _Limits(_Budget(max_bytes), MAX_LINES))
            ]
    except _RefusedError as refused:
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
    """Return the run files of an upload: the file itself, what a gzip file holds, or each file of a
    zip (gzipped or not).

    `file` must be seekable. `max_bytes` is for all of it unpacked, `max_lines` and `max_run_bytes`
    for each run. `only` names one member of a zip (`zip_members`): no other is read. Raises
    UploadRefusedError with every problem. Reading stops where a limit is passed, so a bomb costs no
    more than a run of the largest size.
    """
    limits = _Limits(_Budget(max_bytes), max_lines, max_run_bytes, only)
    try:
        if _head(file).startswith(ZIP):
            return _from_zip(file, name, limits)
        return [_unpacked(file, name, limits)]
    except _RefusedError as refused:
        raise UploadRefusedError([refused.at(name)]) from None


def _from_zip(file: BinaryIO, name: str, limits: _Limits) -> list[Unpacked]:
    """Read every file of a zip, and name every one that is no run."""
    _check_directory(file)
    runs, problems = [], []
    try:
        with zipfile.ZipFile(file) as archive:
            for member in _members(archive, limits):
                try:
                    runs.append(_from_member(archive, member, limits))
                except _RefusedError as refused:
                    problems.append(refused.at(f"{name}/{member.filename[:MAX_NAME]}"))
                    if limits.budget.left < 0:
                        break
    except DAMAGE as error:
        raise _damaged_zip(error) from error
    if problems:
        raise UploadRefusedError(problems)
    return runs


def _members(archive: zipfile.ZipFile, limits: _Limits) -> list[zipfile.ZipInfo]:
    """Return the members that are files, without what systems add by themselves."""
    names = archive.namelist()
    if any(name.startswith(OFFICE_MEMBERS) for name in names):
        raise _RefusedError(
            "an Office document or a program package", todo="Save the table as tab-separated text."
        )
    if len(names) > MAX_MEMBERS:
        raise _RefusedError(
            f"a zip of {len(names):,} files", expected=f"at most {MAX_MEMBERS:,} files"
        )
    members = [
        member
        for member in archive.infolist()
        if not (member.is_dir() or _is_of_system(member.filename))
    ]
    [(path, times)] = Counter(member.filename for member in members).most_common(1) or [("", 0)]
    if times > 1:
        raise _RefusedError(
            f"a zip with {times} files of the name {path[:MAX_NAME]}",
            todo="Give each its own name.",
        )
    if limits.only is not None:
        members = [member for member in members if member.filename == limits.only][:1]
    if not members:
        raise _RefusedError("a zip without a file in it" + (", only folders" if names else ""))
    limits.budget.check(sum(member.file_size for member in members))
    return members


def _damaged_zip(error: Exception) -> _RefusedError:
    return _RefusedError(f"a zip that is damaged ({error})", todo="Pack it again.")


def _is_of_system(path: str) -> bool:
    name = posixpath.basename(path)
    return (
        path.startswith("__MACOSX/")
        or name.startswith("._")
        or name in {".DS_Store", "Thumbs.db", "desktop.ini"}
    )


def _from_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: _Limits) -> Unpacked:
    if member.flag_bits & ENCRYPTED:
        raise _RefusedError("a file locked with a password", todo="Pack it without a password.")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _RefusedError(
            "a file compressed in an unusual way", todo="Pack it as an ordinary zip (deflate)."
        )
    try:
        with archive.open(member) as stream:
            return _unpacked(stream, member.filename, limits)
    except DAMAGE as error:
        raise _RefusedError(
            f"damaged data ({error})", todo="Pack it again and send it again."
        ) from error


def _unpacked(stream: IO[bytes], name: str, limits: _Limits) -> Unpacked:
    """Read one run file, taking one layer of gzip off."""
    base = posixpath.basename(name.replace("\\", "/"))[:MAX_NAME]
    if not _head(stream).startswith(GZIP):
        return Unpacked(base, _read_run(stream, limits), name)
    try:
        with gzip.GzipFile(fileobj=stream) as unzipped:
            return Unpacked(base.removesuffix(".gz"), _read_run(unzipped, limits), name)
    except EOFError as error:
        raise _RefusedError(
            "a gzip file that is cut short", todo="Send it again, whole."
        ) from error
    except (OSError, zlib.error) as error:
        raise _RefusedError(
            f"a gzip file that is damaged ({error})", todo="Pack it again."
        ) from error


def _read_run(stream: IO[bytes] | gzip.GzipFile, limits: _Limits) -> bytes:
    """Read text chunk by chunk, and stop at the first sign that it is no run."""
    head = _head(stream)
    _check_kind(head)
    # Not a list of chunks: what a BytesIO gathers is handed out without a second copy.
    gathered, lines, open_bytes, own = io.BytesIO(), 0, 0, _Budget(limits.max_run_bytes)
    while chunk := stream.read(CHUNK):
        limits.budget.spend(len(chunk))
        own.spend(len(chunk))
        if b"\0" in chunk:
            raise _null_byte(chunk, lines)
        end = b"\n" if b"\n" in chunk else b"\r"
        first, last = chunk.find(end), chunk.rfind(end)
        open_bytes += len(chunk) if first < 0 else first
        if open_bytes > MAX_LINE_BYTES:
            raise _huge_line(lines + 1)
        lines += chunk.count(end)
        if lines > limits.max_lines:
            raise _too_many_lines(limits.max_lines)
        open_bytes = open_bytes if first < 0 else len(chunk) - last - 1
        gathered.write(chunk)
    if not gathered.tell():
        raise _RefusedError("an empty file")
    return gathered.getvalue()


def _head(stream: IO[bytes] | gzip.GzipFile) -> bytes:
    stream.seek(0)
    head = stream.read(HEAD)
    stream.seek(0)
    return head


def _check_kind(head: bytes) -> None:
    """Refuse what is known by its first bytes."""
    if head.startswith((GZIP, *ZIP)):
        raise _RefusedError("an archive inside an archive", todo="Pack the runs once.")
    if head[TAR_MARK] == b"ustar":
        raise _RefusedError(
            "a tar archive", todo="Pack the runs as a zip, or send them one by one."
        )
    for mark, kind in MAGIC:
        if head.startswith(mark):
            raise _RefusedError(kind)
    zeros = sorted((head[::2].count(0), head[1::2].count(0)))
    if zeros[1] > len(head) // 4 > 4 * zeros[0]:  # every other byte, as in UTF-16; not all of them
        raise _RefusedError("text in UTF-16", todo="Save the file as UTF-8.")


def _null_byte(chunk: bytes, lines: int) -> _RefusedError:
    line = lines + chunk.count(b"\n", 0, chunk.index(0)) + 1
    return _RefusedError("a null byte, so it is not text", line=line)


def _huge_line(line: int) -> _RefusedError:
    found, todo = (
        f"more than {MAX_LINE_BYTES:,} bytes in one line",
        "Look whether the line ends were lost.",
    )
    return _RefusedError(found, expected="one line for each item", todo=todo, line=line)


def _too_many_lines(max_lines: int) -> _RefusedError:
    todo = "Cut each topic to the number of items that the task takes."
    return _RefusedError(
        f"more than {max_lines:,} lines",
        expected=f"at most {max_lines:,} lines in a run",
        todo=todo,
    )


def _check_directory(file: BinaryIO) -> None:
    """Refuse a zip whose table of contents is huge before it is read: it is read whole, into
    objects.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - TAIL, 0))
    tail = file.read(TAIL)
    file.seek(0)
    if ZIP64_LOCATOR in tail:
        raise _RefusedError("a zip in the form for huge archives (ZIP64)", todo="Pack fewer files.")
    at = tail.find(ZIP_END)
    while at >= 0:
        record = tail[at : at + END_RECORD.size]
        if len(record) == END_RECORD.size and END_RECORD.unpack(record)[5] > MAX_DIRECTORY_BYTES:
            raise _RefusedError(
                "a zip of very many files", expected=f"at most {MAX_MEMBERS:,} files"
            )
        at = tail.find(ZIP_END, at + 1)
