"""Read judgments made elsewhere from a TSV with headings or a qrels file, with all problems.

The TSV has the columns topic, item and label, and optionally assessor, comment, seconds, judged_at
and guidelines (the version that the assessor followed), in any order. A cell may be quoted, with
the quotes in it doubled, as spreadsheets write it. A file without headings is read as qrels: topic,
0, item, label. The results of a batch of Turkle are read too (`arqkit.formats.turkle`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from arqkit.formats.source_text import FileKind, source_text
from arqkit.formats.turkle import is_of_turkle, turkle_rows
from arqkit.labels import LabelScale
from arqkit.records import LONGEST_ID, FileProblems, FileRefusedError, Problem

LONGEST_COMMENT = 10_000
MAX_SECONDS = 2_000_000
_NEEDED = ("topic", "item", "label")
_COLUMNS = (*_NEEDED, "assessor", "comment", "seconds", "judged_at", "guidelines")
_WHOLE = re.compile(r"([0-9]{1,9})(?:\.0*)?")
_QRELS = ("topic", "", "item", "label")


class JudgedLine(NamedTuple):
    """A judgment of the file. A value that is missing or empty is None."""

    line: int
    topic: str
    item: str
    label: int
    assessor: str | None = None
    comment: str | None = None
    active_ms: int | None = None
    judged_at: datetime | None = None
    guidelines: int | None = None


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
    lines = [
        (number, line.strip("\r"))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    heading = [cell.strip().lower() for cell in lines[0][1].split("\t")] if lines else []
    has_heading = {"topic", "label"} <= set(heading)
    columns: Sequence[str] = heading if has_heading else _QRELS
    expected, todo = "topic, 0, item, label", "Correct the line."
    if has_heading:
        expected = f"{len(columns)} columns, as in the headings"
        if faults := _heading_faults(heading):
            known = f"the columns {', '.join(_NEEDED)}, and optionally {', '.join(_COLUMNS[3:])}"
            problems.add(lines[0][0], faults[:200], known, "Correct the headings.")
            return
    else:
        todo = "Correct the line, or start the file with the headings topic, item, label."
    for number, line in lines[has_heading:]:
        cells = [_cell(cell) for cell in line.split("\t")] if has_heading else line.split()
        if len(cells) == len(columns):
            yield _Row(number, dict(zip(columns, cells, strict=True)))
        else:
            actual = f"{len(cells)} column{'s' * (len(cells) != 1)} in {line[:80]!r}"
            problems.add(number, actual, expected, todo)


def _heading_faults(heading: list[str]) -> str:
    unknown = [name for name in heading if name not in _COLUMNS]
    twice = sorted({name for name in heading if heading.count(name) > 1})
    missing = [name for name in _NEEDED if name not in heading]
    faults = [("missing column", missing), ("unknown column", unknown), ("repeated column", twice)]
    return "; ".join(f"{what} {', '.join(map(repr, names))}" for what, names in faults if names)


def _cell(text: str) -> str:
    cell = text.strip()
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _read(row: _Row, scale: LabelScale, problems: FileProblems) -> JudgedLine | None:
    before = len(problems)

    def value(name: str, read: Callable[[str], Any], expected: str, todo: str) -> Any:
        cell = row.cells.get(name, "")
        if not cell and name not in _NEEDED:
            return None
        try:
            return read(cell)
        except (ValueError, OverflowError):
            actual = f"the {name} {cell[:80]!r}" if cell else f"no {name}"
            problems.add(row.line, actual, expected, todo)

    known, seconds = f"one of {', '.join(map(str, scale.values))}", f"from 0 to {MAX_SECONDS:,}"
    optional = "Correct it, or leave the cell empty."
    an_id = f"an id of at most {LONGEST_ID} characters"
    text = f"at most {LONGEST_COMMENT:,} characters"
    a_time = "a time such as 2026-11-21T14:05:00Z"
    to_label = "Correct the label, or remove the line."
    fields = {
        "topic": value("topic", _identifier, "a topic of the task", "Fill in the topic."),
        "item": value("item", _identifier, an_id, "Correct the id."),
        "label": value("label", lambda cell: _label(cell, scale), known, to_label),
        "assessor": row.cells.get("assessor") or None,
        "comment": value("comment", _comment, text, "Shorten the comment."),
        "active_ms": value("seconds", _milliseconds, f"a number {seconds}", optional),
        "judged_at": value("judged_at", _moment, a_time, optional),
        "guidelines": value("guidelines", int, "the number of a version", optional),
    }
    return JudgedLine(line=row.line, **fields) if len(problems) == before else None


def _identifier(cell: str) -> str:
    if not cell or len(cell) > LONGEST_ID:
        raise ValueError
    return cell


def _label(cell: str, scale: LabelScale) -> int:
    match = _WHOLE.fullmatch(cell)
    if match is None or int(match[1]) not in scale.values:
        raise ValueError
    return int(match[1])


def _comment(cell: str) -> str:
    if len(cell) > LONGEST_COMMENT:
        raise ValueError
    return cell


def _milliseconds(cell: str) -> int:
    seconds = float(cell)
    if not 0 <= seconds <= MAX_SECONDS:
        raise ValueError
    return round(seconds * 1000)


def _moment(cell: str) -> datetime:
    moment = datetime.fromisoformat(cell)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _find_repeated(read: Sequence[JudgedLine], problems: FileProblems) -> None:
    first: dict[tuple[str, str], JudgedLine] = {}
    for row in read:
        known = first.setdefault((row.topic, row.item), row)
        if known is not row:
            actual = f"{row.item} again for topic {row.topic} (first on line {known.line})"
            todo = "Keep the line with the right label."
            problems.add(row.line, actual, "one label per topic and item", todo)
