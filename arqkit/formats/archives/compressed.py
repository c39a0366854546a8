"""Read files that may be compressed with gzip or bzip2, up to any damage."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PIECE = 4 * 1024 * 1024
"""The bytes that are unpacked at a time, so that a dump is never whole in memory."""
GZIP, BZIP2 = b"\x1f\x8b", b"BZh"
MOST_UNPACKED = 100, 100_000_000
"""The bytes that a file may unpack to: this multiple of its size, or this number if it is more.

Texts pack to a tenth; a bomb to a thousandth.
"""
READ_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, UnicodeError)
"""The errors of a truncated or damaged file while it is read."""


class DamagedFileError(Exception):
    """A compressed file is truncated or damaged. The message describes it for a person."""


class ByteStream(Protocol):
    """What files, pipes and decompressors have in common: bytes that are read once, in order."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""


def unpacked_stream(file: BinaryIO) -> ByteStream:
    """Return the decompressed bytes. The first bytes decide, because the name may be wrong."""
    ratio, least = MOST_UNPACKED
    most = max(least, ratio * file.seek(0, 2))
    file.seek(0)
    head = file.read(len(BZIP2))
    file.seek(0)
    if head.startswith(GZIP):
        return _Packed(gzip.GzipFile(fileobj=file), most)
    return _Packed(bz2.BZ2File(file), most) if head.startswith(BZIP2) else file


class _Packed:
    """The bytes of a compressed file, and then its fault, if any: damage, or too many bytes."""

    def __init__(self, file: gzip.GzipFile | bz2.BZ2File, most: int) -> None:
        self._file, self._left = file, most
        self._fault: Exception | None = None

    def read(self, size: int = -1, /) -> bytes:
        """Return `size` bytes, fewer at the end or before the fault. Raise the fault after them."""
        if self._fault:
            raise self._fault
        parts: list[bytes] = []
        while size:
            try:
                part = self._file.read1(size)
            except READ_ERRORS as error:
                self._fault = error
                break
            if not part:
                break
            self._left -= len(part)
            if self._left < 0:
                self._fault = OSError("a file that unpacks to far more bytes than a text does")
                break
            parts.append(part)
            size = max(size - len(part), 0) if size > 0 else -1
        if self._fault and not parts:
            raise self._fault
        return b"".join(parts)


class _Raw(io.RawIOBase):
    """A stream of bytes as the standard library buffers it."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Write the next bytes into a buffer, and return their number."""
        view = memoryview(buffer).cast("B")
        data = self._stream.read(len(view))
        view[: len(data)] = data
        return len(data)


def unpacked_lines(file: BinaryIO) -> BinaryIO:
    """Return the bytes of `unpacked_stream` as a file that is read by lines."""
    return io.BufferedReader(_Raw(unpacked_stream(file)), PIECE)


def read_pieces(path: Path, *, size: int = PIECE) -> Iterator[bytes]:
    """Yield the unpacked bytes in pieces of about `size`; the first bytes show the compression.

    Raise DamagedFileError after the last byte that can be unpacked, and OSError if the file cannot
    be opened.
    """
    with path.open("rb") as raw:
        head = raw.read(2)
        kind = {GZIP: "a gzip file", BZIP2[:2]: "a bzip2 file"}.get(head, "a file")
        raw.seek(0)
        stream = unpacked_stream(raw)
        try:
            while piece := stream.read(size):
                yield piece
        except READ_ERRORS as error:
            how = "truncated" if isinstance(error, EOFError) else f"damaged ({error})"
            raise DamagedFileError(f"{kind} that is {how}") from error
