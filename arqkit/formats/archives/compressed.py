"""Read files that may be compressed with gzip or bzip2, up to any damage."""

import bz2
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

PIECE = 4 * 1024 * 1024
GZIP, BZIP2 = b"\x1f\x8b", b"BZh"
DAMAGE = (EOFError, OSError, ValueError, zlib.error)


class DamagedFileError(Exception):
    """A compressed file is truncated or damaged. The message describes it for a person."""


def read_pieces(path: Path, *, size: int = PIECE) -> Iterator[bytes]:
    """Yield the unpacked bytes in pieces of about `size`; the first bytes show the compression.

    Raise DamagedFileError after the last byte that can be unpacked, and OSError if the file cannot
    be opened.
    """
    with path.open("rb") as raw:
        file, kind = _unpacked(raw)
        gathered: list[bytes] = []
        room = size
        while True:
            try:
                part = file.read1(size)  # type: ignore[attr-defined]  # each of the three has it
            except DAMAGE as error:
                if gathered:
                    yield b"".join(gathered)
                how = "truncated" if isinstance(error, EOFError) else f"damaged ({error})"
                raise DamagedFileError(f"{kind} that is {how}") from error
            gathered.append(part)
            room -= len(part)
            if room <= 0 or not part:
                yield b"".join(gathered)
                gathered, room = [], size
            if not part:
                return


def _unpacked(raw: BinaryIO) -> tuple[BinaryIO, str]:
    head = raw.read(4)
    raw.seek(0)
    if head.startswith(GZIP):
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw)), "a gzip file"
    if head.startswith(BZIP2):
        return cast(BinaryIO, bz2.BZ2File(raw)), "a bzip2 file"
    return raw, "a file"
