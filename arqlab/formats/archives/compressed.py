"""The bytes of a file that may be packed with gzip or bzip2, in pieces; a damaged one gives what
stands before the damage.
"""

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
    """A packed file ends in its middle or is not what it should be. Says how, for a person."""


def read_pieces(path: Path, *, size: int = PIECE) -> Iterator[bytes]:
    """Return the unpacked bytes in pieces of about `size`. What packs the file is read from its first
    bytes.

    Raises DamagedFileError after the last byte that could be unpacked, and OSError when the file
    cannot be opened.
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
                how = "cut short" if isinstance(error, EOFError) else f"damaged ({error})"
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
