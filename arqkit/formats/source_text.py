"""Decode an uploaded text file: UTF-8, with or without a byte order mark."""

import codecs

from arqkit.formats.file_kinds import FileKind, require_kind
from arqkit.records import FileRefusedError, Problem

_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def source_text(data: bytes, *takes: FileKind, path: str) -> str:
    """Return the text of a file, without a byte order mark and with its line ends.

    Raise FileRefusedError for another encoding, a null byte, or an empty file, and for a file of
    another kind than the reader `takes`.
    """
    problem = _problem(data, path)
    if problem is not None:
        raise FileRefusedError([problem])
    if takes:
        require_kind(data, *takes, path=path)
    return data.decode("utf-8-sig")


def _problem(data: bytes, path: str) -> Problem | None:
    todo = "Save the file as plain text in UTF-8."
    if not data.strip():
        return Problem(
            path, None, "an empty file", "text in UTF-8", "Check that this is the right file."
        )
    if data.startswith(_WIDE_MARKS):
        return Problem(path, 1, "text in UTF-16", "text in UTF-8", todo)
    if b"\0" in data:
        return Problem(path, _line(data, data.index(b"\0")), "a null byte", "text in UTF-8", todo)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        actual = f"the byte 0x{data[error.start]:02X}, which is not UTF-8"
        return Problem(path, _line(data, error.start), actual, "text in UTF-8", todo)
    return None


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
