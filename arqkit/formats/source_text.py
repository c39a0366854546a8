"""Decode an uploaded text file (UTF-8), and recognize a file of another kind by its first lines."""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum

from arqkit.records import FileProblems, FileRefusedError, Problem

HEAD = 64 * 1024
"""The bytes that are enough to recognize a file."""
SAMPLE = 20
_ROOT = re.compile(r"<([A-Za-z]+)")
_DUMPS = frozenset(
    ("posts", "comments", "postlinks", "tags", "users", "votes", "badges", "posthistory", "row")
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[0-9]{1,9}")
_LABEL = re.compile(r"-?[0-9]{1,2}(?:\.0*)?")
_TOPIC = frozenset(("topic", "topicid", "queryid", "number"))
_FACTS = frozenset(
    ("category", "topictype", "difficulty", "dependency", "dependence", "multipart", "complexity")
)
_PEOPLE = frozenset(("assessor", "person", "email", "emailaddress", "user", "username"))

_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class FileKind(StrEnum):
    """The kinds of files that organizers load, and runs, with their names for people."""

    QRELS = "qrels"
    RUN = "a run"
    JUDGMENTS = "judgments"
    TOPICS = "topics"
    INFORMATION = "topic information"
    ASSIGNMENTS = "assignments"
    DUMP = "a data dump"
    FORMULAS = "a formula index"


def require_kind(data: bytes, *takes: FileKind, path: str) -> None:
    """Raise `FileRefusedError` if a file, or its beginning, is of another known kind."""
    sniffed = sniffed_kind(data)
    if sniffed is not None and sniffed not in takes:
        this = "This is" if sniffed.value.startswith("a ") else "These are"
        expected = " or ".join(kind.value for kind in takes)
        todo = f"{this} {sniffed.value}: load the file as such, or choose another file."
        raise FileRefusedError.of(path, sniffed.value, expected, todo)


def sniffed_kind(data: bytes) -> FileKind | None:
    """Return the kind of a file from its first bytes, or None if it is not certain."""
    text = data[:HEAD].decode(errors="replace").lstrip("\ufeff \t\r\n")
    if text.startswith("<"):
        return _of_xml(text)
    if text.startswith("{"):
        is_table = re.match(r'\{\s*"[^"]*"\s*:\s*\{', text)
        return FileKind.INFORMATION if is_table else None
    lines = [line for line in text.split("\n")[: SAMPLE + 1] if line.strip()][:SAMPLE]
    return _of_headings(lines[0]) or _of_rows(lines) if lines else None


def _of_xml(text: str) -> FileKind | None:
    root = _ROOT.search(text)
    name = root[1].lower() if root else ""
    if name == "topics":
        return FileKind.TOPICS
    return FileKind.DUMP if name in _DUMPS else None


def _of_headings(line: str) -> FileKind | None:
    names = {re.sub("[^a-z]", "", cell.lower()) for cell in re.split("[\t,;]", line)}
    if {"topic", "label", "item"} <= names or "turkleusername" in names:
        return FileKind.JUDGMENTS
    if {"id", "threadid", "type"} <= names:
        return FileKind.FORMULAS
    if names & _TOPIC and names & _FACTS:
        return FileKind.INFORMATION
    return FileKind.ASSIGNMENTS if names & _TOPIC and names & _PEOPLE else None


def _of_rows(lines: Sequence[str]) -> FileKind | None:
    rows = [line.split() for line in lines]
    if all(len(row) == 4 and _LABEL.fullmatch(row[3]) for row in rows):
        return FileKind.QRELS if len({row[1] for row in rows}) == 1 else None
    if all(_is_ranked(row) for row in rows):
        return FileKind.RUN
    answers = [line.split("\t") for line in lines]
    return FileKind.RUN if all(_is_answer(row) for row in answers) else None


def _is_ranked(row: Sequence[str]) -> bool:
    """Return whether a row ends with rank, score and tag."""
    is_list = len(row) in (5, 6) and row[1] not in ("", "0")
    return is_list and bool(_WHOLE.fullmatch(row[-3]) and _NUMBER.fullmatch(row[-2]))


def _is_answer(row: Sequence[str]) -> bool:
    """Return whether a row is an answer of Task 3: topic, rank, score, tag, sources, answer."""
    return len(row) == 6 and bool(_WHOLE.fullmatch(row[1]) and _NUMBER.fullmatch(row[2]))


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


def csv_rows(
    text: str, problems: FileProblems, *, delimiter: str = ",", strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV that are not empty, with their last lines and with stripped cells.

    An unreadable rest of the file, as after an unclosed quotation mark, becomes a problem.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        problems.add(reader.line_num, f"invalid CSV ({error})", "valid CSV", "Correct the line.")


def column_of(names: Collection[str], header: Sequence[str]) -> int | None:
    """Return the place of the column with one of these names, in letters and digits, or None."""
    plain = [re.sub("[^a-z0-9]", "", name.lower()) for name in header]
    return next((plain.index(name) for name in names if name in plain), None)
