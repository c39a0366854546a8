"""Byte streams of dump files: decompressed, decoded to UTF-8, and read up to any damage."""

import bz2
import codecs
import gzip
import lzma
import re
import zlib
from typing import BinaryIO, Protocol

from arqkit.formats.archives.compressed import BZIP2, GZIP

READ_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, UnicodeError)
"""The errors of a truncated or damaged file while it is read."""
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_MARKS_16 = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_FIRST_16 = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))  # without a mark


class ByteStream(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""


def unpacked_stream(file: BinaryIO) -> ByteStream:
    """Return the decompressed bytes. The first bytes decide, because the name may be wrong."""
    head = file.read(len(BZIP2))
    file.seek(0)
    if head.startswith(GZIP):
        return _Packed(gzip.GzipFile(fileobj=file))
    return _Packed(bz2.BZ2File(file)) if head.startswith(BZIP2) else file


class _Packed:
    """The bytes of a compressed file, and then its fault, if any."""

    def __init__(self, file: gzip.GzipFile | bz2.BZ2File) -> None:
        self._file = file
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
            parts.append(part)
            size = max(size - len(part), 0) if size > 0 else -1
        if self._fault and not parts:
            raise self._fault
        return b"".join(parts)


class SalvagedStream:
    """The unpacked bytes of a member, and then the fault that ended it early, if any."""

    def __init__(self, file: BinaryIO, fault: OSError | None) -> None:
        self._file, self._fault = file, fault

    def read(self, size: int = -1, /) -> bytes:
        """Return `size` bytes, fewer at the end. Raise the fault after the last one."""
        part = self._file.read(size)
        if self._fault and not part:
            raise self._fault
        return part


class _Recoded:
    """The bytes of a file in another encoding as UTF-8; invalid bytes become U+FFFD."""

    def __init__(self, file: ByteStream, start: bytes, encoding: str) -> None:
        self._file, self._start = file, start
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")

    def read(self, size: int = -1, /) -> bytes:
        """Return about `size` bytes; none at the end."""
        while True:
            part, self._start = self._start or self._file.read(size), b""
            text = self._decoder.decode(part, final=not part)
            if text or not part:
                return text.encode()


class _Begun:
    """The bytes of a file whose first bytes were already read."""

    def __init__(self, file: ByteStream, start: bytes) -> None:
        self._file, self._start = file, start

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes; none at the end."""
        start, self._start = self._start, b""
        return start or self._file.read(size)


def _is_8_bit_after_all(name: str, mark: str | None) -> bool:
    """Return whether a file declares UTF-16 or UTF-32, but its declaration is in 8-bit text."""
    return mark is None and codecs.lookup(name).name.startswith(("utf-16", "utf-32"))


def utf8_stream(file: ByteStream) -> ByteStream:
    """Return a file as UTF-8, by its byte order mark or its declared encoding."""
    start = file.read(1024)
    encoding = next(
        (name for mark, name in (*_MARKS, *_MARKS_16, *_FIRST_16) if start.startswith(mark)), None
    )
    if encoding == "utf-8-sig":
        return _Begun(file, start[3:])
    declared = _DECLARED.match(start)
    name = encoding or (declared[1].decode() if declared else "utf-8")
    try:
        # ASCII is read as UTF-8, so that a stray byte does not cost its row.
        is_utf8 = codecs.lookup(name).name in ("utf-8", "ascii") or _is_8_bit_after_all(
            name, encoding
        )
        "".encode(name)  # base64 and the like are not text encodings
    except LookupError as error:
        raise OSError(f"the unknown encoding {name}") from error
    return _Begun(file, start) if is_utf8 else _Recoded(file, start, name)
