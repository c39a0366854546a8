"""Read documents or paragraphs: lines of JSON, or HTML and text files in a folder or a zip.

A line is an object with `id`, `html` or `text`, and optionally `title`. The id of a file is its
name without the ending. What cannot be read is reported by file and line; all else is read.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple, cast

from arqkit.formats.archives.compressed import unpacked_lines
from arqkit.formats.archives.unpacking import opened_zip
from arqkit.formats.nested import json_values
from arqkit.records import LONGEST_ID, FileRefusedError, Problem

HTML_ENDINGS, TEXT_ENDINGS = (".html", ".htm", ".xhtml"), (".txt",)
LINES = re.compile(r"\.(?:jsonl|ndjson)(?:\.gz)?$", re.IGNORECASE)
LARGEST = 10_000_000
"""The bytes of the longest document: more is a whole collection in one file."""
MOST_DOCUMENTS = 1_000_000
"""The files of the largest zip: more are lines of JSON."""
EXPECTED = (
    "a file of JSON lines (.jsonl, plain or .gz), or a folder or .zip of HTML and text files "
    "(.html, .xhtml, .txt)"
)
_DAMAGE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
_NOT_IN_IDS = re.compile(r"[\s\"<>&\x00-\x1f\x7f]")
_CORRECT = "Correct it, and import the documents again."
_IS_OBJECT = 'an object such as {"id": "0704.0005_3", "title": "…", "html": "<p>…</p>"}'


class SourceDocument(NamedTuple):
    """A document as it was sent; its text is HTML or plain, with LaTeX between dollars."""

    document_id: str
    title: str
    text: str
    is_html: bool
    source: str
    line: int | None = None


class _Raw(NamedTuple):
    data: bytes
    source: str
    line: int | None = None
    document_id: str = ""
    ending: str = ""


def is_of_documents(path: Path) -> bool:
    """Return whether a path can have documents, by its kind and name."""
    return path.is_dir() or path.suffix.lower() == ".zip" or bool(LINES.search(path.name))


def read_documents(path: Path) -> Iterator[SourceDocument | Problem]:
    """Yield the documents of a file or folder in a fixed order, and a Problem for each other one.

    An id that was read before is a Problem. Nothing is raised.
    """
    document_ids: set[str] = set()
    try:
        for raw in _raws(path):
            document = raw if isinstance(raw, Problem) else _read(raw)
            if isinstance(document, SourceDocument) and document.document_id in document_ids:
                what = f"the document {document.document_id} again"
                todo = "Keep one of them, and import the documents again."
                document = Problem(document.source, document.line, what, "each document once", todo)
            elif isinstance(document, SourceDocument):
                document_ids.add(document.document_id)
            yield document
    except FileRefusedError as refused:
        yield from refused.problems
        return
    except _DAMAGE as error:
        todo = "Send the file again. The documents before the damage were read."
        yield Problem(path.name, None, f"a damaged file ({error})", EXPECTED, todo)
        return
    if not document_ids:
        yield Problem(path.name, None, "no document", EXPECTED, "Check the path.")


def _raws(path: Path) -> Iterator[_Raw | Problem]:
    if path.is_dir():
        for document in sorted(path.rglob("*")):
            if document.is_file() and _ending(document.name):
                with document.open("rb") as file:
                    yield _file(file, str(document.relative_to(path)))
    elif path.suffix.lower() == ".zip":
        with path.open("rb") as file, opened_zip(file, path.name, most=MOST_DOCUMENTS) as archive:
            for name in sorted(archive.namelist()):
                if _ending(name) and not name.startswith("__MACOSX/"):
                    with archive.open(name) as member:
                        yield _file(cast("BinaryIO", member), name)
    else:
        with path.open("rb") as file:
            yield from _lines(unpacked_lines(file), path.name)


def _ending(name: str) -> str:
    ending = PurePosixPath(name).suffix.lower()
    return ending if ending in (*HTML_ENDINGS, *TEXT_ENDINGS) else ""


def _file(file: BinaryIO, name: str) -> _Raw | Problem:
    data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        return _too_long(name, None)
    return _Raw(data, name, document_id=PurePosixPath(name).stem, ending=_ending(name))


def _lines(file: BinaryIO, source: str) -> Iterator[_Raw | Problem]:
    number = 0
    while data := file.readline(LARGEST + 1):
        number += 1
        if len(data) > LARGEST:
            while data and not data.endswith(b"\n"):
                data = file.readline(LARGEST)
            yield _too_long(source, number)
        elif not data.isspace():
            yield _Raw(data, source, number)


def _too_long(source: str, line: int | None) -> Problem:
    expected = f"a document of at most {LARGEST:,} bytes"
    return Problem(source, line, "a longer document", expected, "Divide it into paragraphs.")


def _read(raw: _Raw) -> SourceDocument | Problem:
    try:
        return _checked(_document(raw))
    except ValueError as fault:
        actual, expected = fault.args
        return Problem(raw.source, raw.line, actual, expected, _CORRECT)


def _document(raw: _Raw) -> SourceDocument:
    """Return a document. Raise ValueError with what was found and expected."""
    try:
        text = raw.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        actual = f"a byte that is not UTF-8 ({raw.data[error.start]:#04x})"
        raise ValueError(actual, "text in UTF-8") from error
    if raw.document_id:
        return SourceDocument(raw.document_id, "", text, raw.ending in HTML_ENDINGS, raw.source)
    try:
        values = json_values(text)
    except ValueError as error:
        raise ValueError(f"a line that is not JSON ({error})", _IS_OBJECT) from error
    fields: dict[str, Any] = values if isinstance(values, dict) else {}
    document_id, title = fields.get("id"), fields.get("title") or ""
    kind = "html" if "html" in fields else "text"
    if isinstance(document_id, int) and not isinstance(document_id, bool):
        document_id = str(document_id)
    for name, value in (("id", document_id), ("title", title), ("html or text", fields.get(kind))):
        if not isinstance(value, str):
            raise ValueError(f"a line without {name} as text", _IS_OBJECT)
    return SourceDocument(
        str(document_id), title, fields[kind], kind == "html", raw.source, raw.line
    )


def _checked(document: SourceDocument) -> SourceDocument:
    document_id = document.document_id
    if not document_id or len(document_id) > LONGEST_ID or _NOT_IN_IDS.search(document_id):
        expected = f"an id of at most {LONGEST_ID} characters, without spaces, quotes, <, > and &"
        raise ValueError(f"the id {document_id[:60]!r}", expected)
    whole = document_id + document.title + document.text
    if "\0" in whole or (not whole.isascii() and any("\ud800" <= c <= "\udfff" for c in whole)):
        raise ValueError("a null byte or half a character", "text in Unicode")
    return document
