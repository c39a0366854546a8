"""Read judgments made elsewhere from a TSV with headings or a qrels file, with all problems.

The TSV has the columns topic, item and label, and optionally others of `COLUMNS`, in any order. It
may be an export of judgments, whose columns are in `COLUMNS` too. A cell may be quoted, with the
quotes in it doubled, as spreadsheets write it. A file without headings is read as qrels: topic, 0,
item, label. The results of a batch of Turkle are read too (`arqkit.formats.turkle`).
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from arqkit.formats.nested import json_values
from arqkit.formats.source_text import FileKind, source_text
from arqkit.formats.turkle import is_of_turkle, turkle_rows
from arqkit.labels import LabelScale
from arqkit.records import LONGEST_ID, FileProblems, FileRefusedError, Problem

Value = TypeVar("Value")

LONGEST_COMMENT = 10_000
# As milliseconds, more do not fit into the column of 32 bits.
MAX_SECONDS = 2_000_000
_NEEDED = ("topic", "item", "label")
_WHOLE = re.compile(r"([0-9]{1,9})(?:\.0*)?")
_QRELS = ("topic", "", "item", "label")

_ID = f"an id of at most {LONGEST_ID} characters"
_TEXT = f"at most {LONGEST_COMMENT:,} characters"
_TIME = "a time such as 2026-11-21T14:05:00Z"
_NUMBER = "the number of a judgment"
_SECONDS = f"a number from 0 to {MAX_SECONDS:,}"


class JudgedLine(NamedTuple):
    """A judgment of the file. A value that is missing or empty is None.

    A judgment that is not current is history: `supersedes` has the `number` of an earlier one.
    """

    line: int
    topic: str
    item: str
    label: int
    assessor: str | None = None
    comment: str | None = None
    active_ms: int | None = None
    judged_at: datetime | None = None
    guidelines: int | None = None
    reason: str | None = None
    marks: list[object] | None = None
    given_at: datetime | None = None
    is_imported: bool = True
    is_current: bool = True
    number: int | None = None
    supersedes: int | None = None


class _Row(NamedTuple):
    line: int
    cells: Mapping[str, str]


def read_judgments(
    data: bytes, *, path: str, scale: LabelScale
) -> tuple[list[JudgedLine], list[Problem]]:
    """Return the readable judgments of a file, and every problem of the rest.

    `scale` has the labels allowed in the file. A time without zone is in UTC.
    """
    try:
        text = source_text(data, FileKind.JUDGMENTS, FileKind.QRELS, path=path)
    except FileRefusedError as refused:
        return [], list(refused.problems)
    problems = FileProblems(path)
    if is_of_turkle(text):
        rows = [_Row(*row) for row in turkle_rows(text, problems)]
    else:
        rows = list(_rows(text, problems))
    if not rows and not problems:
        todo = "Check that this is a file of judgments."
        problems.add(None, "no judgments", "at least one judgment", todo)
    read = [judged for row in rows if (judged := _read(row, scale, problems))]
    _find_repeated(read, problems)
    return read, problems


def _rows(text: str, problems: FileProblems) -> Iterator[_Row]:
    first = text.lstrip("\r\n").partition("\n")[0]
    heading = [cell.strip().lower() for cell in first.split("\t")]
    if not {"topic", "label"} <= set(heading):
        expected = "topic, 0, item, label"
        todo = "Correct the line, or start the file with the headings topic, item, label."
        blanks = ((number, line.split()) for number, line in enumerate(text.split("\n"), start=1))
        yield from _in_columns(blanks, _QRELS, (expected, todo), problems)
        return
    lines = _lines(text, problems)
    number = next((number for number, cells in lines if any(cells)), 1)
    if faults := _heading_faults(heading):
        columns = f"the columns {', '.join(_NEEDED)}, and optionally {', '.join(_OPTIONAL)}"
        problems.add(number, faults[:200], columns, "Correct the headings.")
        return
    expected = f"{len(heading)} columns, as in the headings"
    yield from _in_columns(lines, heading, (expected, "Correct the line."), problems)


def _lines(text: str, problems: FileProblems) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row with the number of its first line; a cell may have lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True)
    number = 1
    try:
        for cells in reader:
            yield number, [cell.strip() for cell in cells]
            number = reader.line_num + 1
    except csv.Error as error:
        todo = "Quote a cell that has quotation marks, and double those in it; then load again."
        problems.add(number, f"a cell that cannot be read ({error})", "cells as in a TSV", todo)


def _in_columns(
    lines: Iterable[tuple[int, list[str]]],
    columns: Sequence[str],
    advice: tuple[str, str],
    problems: FileProblems,
) -> Iterator[_Row]:
    for number, cells in lines:
        if len(cells) == len(columns):
            yield _Row(number, dict(zip(columns, cells, strict=True)))
        elif any(cells):
            actual = f"{len(cells)} column{'s' * (len(cells) != 1)} in {' '.join(cells)[:80]!r}"
            problems.add(number, actual, *advice)


def _heading_faults(heading: list[str]) -> str:
    unknown = [name for name in heading if name not in COLUMNS]
    twice = sorted({name for name in heading if heading.count(name) > 1})
    missing = [name for name in _NEEDED if name not in heading]
    faults = [("missing column", missing), ("unknown column", unknown), ("repeated column", twice)]
    return "; ".join(f"{what} {', '.join(map(repr, names))}" for what, names in faults if names)


def _read(row: _Row, scale: LabelScale, problems: FileProblems) -> JudgedLine | None:
    before = len(problems)
    fields: dict[str, Any] = {}
    for name, cell in row.cells.items():
        column = COLUMNS.get(name)
        if column is None or not (cell or name in _NEEDED or column.reads_empty):
            continue
        try:
            value = column.read(cell)
            if name == "label" and value not in scale.values:
                raise ValueError
            fields[column.field] = value
        except (ValueError, OverflowError, RecursionError):
            actual = f"the {name} {cell[:80]!r}" if cell else f"no {name}"
            labels = f"one of {', '.join(map(str, scale.values))}"
            expected = labels if name == "label" else column.expected
            problems.add(row.line, actual, expected, column.todo)
    fields["item"] = fields.pop("instance", None) or fields.get("item")
    fields.pop("", None)
    return JudgedLine(line=row.line, **fields) if len(problems) == before else None


def _if(holds: Callable[[Value], bool], read: Callable[[str], Value]) -> Callable[[str], Value]:
    """Return what reads a cell, and raises ValueError for a value that does not hold."""

    def checked(cell: str) -> Value:
        if not holds(value := read(cell)):
            raise ValueError
        return value

    return checked


def _whole(cell: str) -> int:
    match = _WHOLE.fullmatch(cell)
    if match is None:
        raise ValueError
    return int(match[1])


_identifier = _if(lambda cell: 0 < len(cell) <= LONGEST_ID, str)
_comment = _if(lambda cell: len(cell) <= LONGEST_COMMENT, str)
_seconds = _if(lambda seconds: 0 <= seconds <= MAX_SECONDS, float)
_active_ms = _if(range(MAX_SECONDS * 1000 + 1).__contains__, int)
_yes = _if(("", "yes").__contains__, str)
_marks = _if(lambda marks: isinstance(marks, list), json_values)


def utc_time(cell: str) -> datetime:
    """Return the time of a cell, in UTC if it names no zone. Raise `ValueError` for others."""
    moment = datetime.fromisoformat(cell)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


class JudgmentColumn(NamedTuple):
    """A column of files of judgments: the field of `JudgedLine` that it fills, and how.

    One without a field is written, and not needed to read the file.
    """

    field: str = ""
    read: Callable[[str], object] = str
    expected: str = ""
    todo: str = "Correct it, or leave the cell empty."
    reads_empty: bool = False


COLUMNS: Mapping[str, JudgmentColumn] = {
    "topic": JudgmentColumn("topic", _identifier, "a topic of the task", "Fill in the topic."),
    "item": JudgmentColumn("item", _identifier, _ID, "Correct the id."),
    "label": JudgmentColumn("label", _whole, "", "Correct the label, or remove the line."),
    "assessor": JudgmentColumn("assessor"),
    "comment": JudgmentColumn("comment", _comment, _TEXT, "Shorten the comment."),
    "seconds": JudgmentColumn("active_ms", lambda cell: round(_seconds(cell) * 1000), _SECONDS),
    "judged_at": JudgmentColumn("judged_at", utc_time, _TIME),
    "guidelines": JudgmentColumn("guidelines", _whole, "the number of a version"),
    "judgment": JudgmentColumn("number", _whole, _NUMBER),
    "pool": JudgmentColumn(),
    "doc_id": JudgmentColumn("instance", _identifier, _ID),
    "word": JudgmentColumn(),
    "current": JudgmentColumn(
        "is_current", lambda cell: bool(_yes(cell)), "yes or nothing", reads_empty=True
    ),
    "judged": JudgmentColumn("judged_at", utc_time, _TIME),
    "given": JudgmentColumn("given_at", utc_time, _TIME),
    "active_ms": JudgmentColumn(
        "active_ms", _active_ms, f"a number from 0 to {MAX_SECONDS * 1000:,}"
    ),
    "imported": JudgmentColumn(
        "is_imported", lambda cell: bool(_yes(cell)), "yes or nothing", reads_empty=True
    ),
    "reason": JudgmentColumn("reason", _comment, _TEXT, "Shorten the reason."),
    "marks": JudgmentColumn("marks", _marks, "a list of passages in JSON"),
    "supersedes": JudgmentColumn("supersedes", _whole, _NUMBER),
}
"""The columns of files of judgments. The first eight are for people to write; the others are those
of an export."""
_OPTIONAL = list(COLUMNS)[len(_NEEDED) : 8]


def _find_repeated(read: Sequence[JudgedLine], problems: FileProblems) -> None:
    first: dict[tuple[str, str], JudgedLine] = {}
    for row in (row for row in read if row.is_current):
        earlier = first.setdefault((row.topic, row.item), row)
        if earlier is not row:
            actual = f"{row.item} again for topic {row.topic} (first on line {earlier.line})"
            todo = "Keep the line with the right label."
            problems.add(row.line, actual, "one label per topic and item", todo)
