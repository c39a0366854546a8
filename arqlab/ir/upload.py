"""Unpacking what a team sends: a run file as it is, gzipped, or several in a zip. Nothing here trusts the sender."""

import gzip
import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from arqlab.ir.records import FileRefusedError, Problem

MEBIBYTE = 1024 * 1024
CHUNK = 256 * 1024
MAX_BYTES = 64 * MEBIBYTE
MAX_LINES = 500_000
MAX_LINE_BYTES = 200_000
MAX_MEMBERS = 200
MAX_DIRECTORY_BYTES = MEBIBYTE  # of a zip: its table of contents
TAR_MARK = slice(257, 262)
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
    """One run file of an upload: its name without folders and `.gz`, and its bytes."""

    name: str
    data: bytes


class UploadRefusedError(FileRefusedError):
    """An upload cannot be unpacked into run files. Holds every problem of it."""


class _Refused(Exception):
    """One file of the upload is refused; `unpack` gathers these."""

    def __init__(self, found: str, *, expected: str = RUN_FILE, todo: str = SEND_RUN, line: int | None = None) -> None:
        super().__init__(found)
        self.found, self.expected, self.todo, self.line = found, expected, todo, line

    def at(self, path: str) -> Problem:
        return Problem(path, self.line, self.found, self.expected, self.todo)


class _Budget:
    """How many bytes may still be unpacked, over all files of an upload."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = self.left = max_bytes

    def spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise _Refused(
                f"more than {self.max_bytes:,} bytes when unpacked",
                expected=f"at most {self.max_bytes:,} bytes",
                todo="Send fewer runs at a time, or look whether the file is what you meant to send.",
            )


def unpack(
    file: BinaryIO, *, name: str, max_bytes: int = MAX_BYTES, max_lines: int = MAX_LINES
) -> list[Unpacked]:
    """Give the run files of an upload: the file itself, what a gzip file holds, or each file of a zip (gzipped or not).

    `file` is read from where it stands and must be seekable. `max_bytes` is for all of it unpacked, `max_lines` for each
    run. Raises UploadRefusedError with every problem; what is read at no time exceeds the limits by more than a chunk.
    """
    budget = _Budget(max_bytes)
    start = file.tell()
    head = file.read(512)
    file.seek(start)
    ...
