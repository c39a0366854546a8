"""One run file of an upload: text, perhaps gzipped, read no further than its limits allow."""

import gzip
import io
import posixpath
import zlib
from typing import IO, NamedTuple

from arqkit.records import Problem

MEBIBYTE = 1024 * 1024
CHUNK = 64 * 1024  # less than the longest line
MAX_RUN_BYTES = 16 * MEBIBYTE  # of one run: checking takes about fifteen times as much memory
MAX_LINE_BYTES = 200_000
MAX_NAME = 200  # characters of a file name that are kept
HEAD = 512
TAR_MARK = slice(257, 262)
RUN_FILE = "a run file: text in UTF-8, plain, gzipped or in a zip"
SEND_RUN = "Upload the run file itself."

# The kinds of files that cannot be a run, by their first bytes.
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
)
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")


class Unpacked(NamedTuple):
    """A run file of an upload: its name without folders and `.gz`, its bytes, its path in a zip."""

    name: str
    data: bytes
    path: str = ""


class MemberRefusedError(Exception):
    """One file of an upload is refused; `uploads.unpack` collects these."""

    def __init__(
        self,
        actual: str,
        *,
        expected: str = RUN_FILE,
        todo: str = SEND_RUN,
        line: int | None = None,
    ) -> None:
        super().__init__(actual)
        self.found, self.expected, self.todo, self.line = actual, expected, todo, line

    def at(self, path: str) -> Problem:
        """Return the problem of the file at a path."""
        return Problem(path, self.line, self.found, self.expected, self.todo)


class ByteBudget:
    """The number of bytes that may still be unpacked."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = self.left = max_bytes

    def check(self, size: int) -> None:
        """Refuse a declared size that is larger than the rest of the budget."""
        if size > self.left:
            self.spend(size)

    def spend(self, size: int) -> None:
        """Subtract the number of bytes that were read."""
        self.left -= size
        if self.left < 0:
            limit = _readable_size(self.max_bytes)
            actual, most = f"more than {limit} when unpacked", f"at most {limit}"
            todo = "Upload fewer runs at a time, or check that you chose the right file."
            raise MemberRefusedError(actual, expected=most, todo=todo)


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
        raise MemberRefusedError(
            "a truncated gzip file", todo="Upload the complete file."
        ) from error
    except (OSError, zlib.error) as error:
        raise MemberRefusedError(
            f"a damaged gzip file ({error})", todo="Compress the run again."
        ) from error


def _read_run(stream: IO[bytes] | gzip.GzipFile, limits: UploadLimits) -> bytes:
    """Read text chunk by chunk, and stop at the first sign that it is not a run."""
    head = first_bytes(stream)
    _check_kind(head)
    # A BytesIO and not a list of chunks, because it returns its bytes without a second copy.
    gathered, lines, open_bytes, own = io.BytesIO(), 0, 0, ByteBudget(limits.max_run_bytes)
    while chunk := stream.read(CHUNK):
        limits.budget.spend(len(chunk))
        own.spend(len(chunk))
        # A few null bytes are a fault of a text, which its report lists with all others.
        if chunk.count(0) * 4 > len(chunk):
            raise _null_bytes(chunk, lines)
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
        raise MemberRefusedError("an empty file")
    return gathered.getvalue()


def _readable_size(size: int) -> str:
    return f"{size / MEBIBYTE:,.1f} MB" if size >= MEBIBYTE else f"{size:,} bytes"


def first_bytes(stream: IO[bytes] | gzip.GzipFile) -> bytes:
    """Return the beginning of a file, and rewind it."""
    stream.seek(0)
    head = stream.read(HEAD)
    stream.seek(0)
    return head


def _check_kind(head: bytes) -> None:
    """Refuse files whose first bytes show that they are not a run."""
    if head.startswith((GZIP, *ZIP)):
        raise MemberRefusedError("an archive inside an archive", todo="Pack the runs only once.")
    if head[TAR_MARK] == b"ustar":
        raise MemberRefusedError(
            "a tar archive", todo="Pack the runs as a zip, or upload them one by one."
        )
    for mark, kind in MAGIC:
        if head.startswith(mark):
            raise MemberRefusedError(kind)
    if encoding := _utf_16(head):
        todo = (
            f"Convert it to UTF-8, for example with iconv -f {encoding} -t UTF-8. Excel’s "
            "“Unicode Text” and > in Windows PowerShell write UTF-16."
        )
        raise MemberRefusedError("text in UTF-16", todo=todo)


def _utf_16(head: bytes) -> str | None:
    """Return the name of the encoding of UTF-16, with or without a byte order mark."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    high, low = head[::2].count(0), head[1::2].count(0)
    # Every other byte of text in Latin letters and digits is null.
    if max(high, low) > len(head) // 4 > 4 * min(high, low):
        return "UTF-16LE" if low > high else "UTF-16BE"
    return None


def _null_bytes(chunk: bytes, lines: int) -> MemberRefusedError:
    line = lines + chunk.count(b"\n", 0, chunk.index(0)) + 1
    return MemberRefusedError("many null bytes, so it is not text", line=line)


def _huge_line(line: int) -> MemberRefusedError:
    actual, todo = (
        f"more than {MAX_LINE_BYTES:,} bytes in one line",
        "Check that each row ends with a line end.",
    )
    return MemberRefusedError(actual, expected="one line per item", todo=todo, line=line)


def _too_many_lines(max_lines: int) -> MemberRefusedError:
    todo = "Cut each topic to the task's limit of items per topic."
    return MemberRefusedError(
        f"more than {max_lines:,} lines",
        expected=f"at most {max_lines:,} lines in a run",
        todo=todo,
    )
