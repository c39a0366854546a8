"""Labels that were judged elsewhere: a TSV with a heading, or a qrels file; read with all problems
at once.

The TSV has the columns topic, item and label, and where they are known assessor, comment, seconds
and judged_at, in any order. A cell may stand in quotation marks, with those inside doubled, as
spreadsheets write it. A file without a heading is taken for qrels: topic, 0, item, label.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from arqlab.formats.source_text import source_text
from arqlab.ir.labels import NOT_JUDGMENTS
from arqlab.ir.records import LONGEST_ID, FileRefusedError, Problem

LONGEST_COMMENT = 10_000
MOST_SECONDS = 2_000_000
_NEEDED = ("topic", "item", "label")
_COLUMNS = (*_NEEDED, "assessor", "comment", "seconds", "judged_at")
_WHOLE = re.compile(r"([0-9]{1,9})(?:\.0*)?")
_QRELS = ("topic", "", "item", "label")


class JudgedLine(NamedTuple):
    """One label of the file. What the file does not say is None: it holds for an empty cell, too."""

    line: int
    topic: str
    item: str
    label: int
    assessor: str | None = None
    comment: str | None = None
    active_ms: int | None = None
    judged_at: datetime | None = None


class _Row(NamedTuple):
    line: int
    cells: Mapping[str, str]


def read_judgments(
    data: bytes, *, path: str, labels: tuple[int, int]
) -> tuple[list[JudgedLine], list[Problem]]:
    """Return what can be read of a file of judgments, and every problem of the rest.

    `labels` are the lowest and highest label of the task; 5 and 6 are always taken. A time without
    zone is in UTC.
    """
    try:
        text = source_text(data, path=path)
    except FileRefusedError as refused:
        return [], list(refused.problems)
    problems: list[Problem] = []
    rows = list(_rows(text, path, problems))
    if not rows and not problems:
        expected, todo = "one judgment at least", "Give the file that holds the judgments."
        problems.append(Problem(path, None, "no judgment", expected, todo))
    known = {*range(labels[0], labels[1] + 1), *NOT_JUDGMENTS}
    read = [_read(row, path, known, problems) for row in rows]
    problems += _repeated(read, path)
    return [row for row in read if row is not None], problems


def _rows(text: str, path: str, problems: list[Problem]) -> Iterator[_Row]:
    lines = [
        (number, line.strip("\r"))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    heading = [cell.strip().lower() for cell in lines[0][1].split("\t")] if lines else []
    has_heading = {"topic", "label"} <= set(heading)
    columns: Sequence[str] = heading if has_heading else _QRELS
    if has_heading and (problem := _heading_problem(heading, path, lines[0][0])):
        problems.append(problem)
        return
    for number, line in lines[has_heading:]:
        cells = [_cell(cell) for cell in line.split("\t")] if has_heading else line.split()
        if len(cells) == len(columns):
            yield _Row(number, dict(zip(columns, cells, strict=True)))
            continue
        expected = (
            f"{len(columns)} columns, as in the heading" if has_heading else "topic, 0, item, label"
        )
        found = f"{len(cells)} column{'s' * (len(cells) != 1)} in {line[:80]!r}"
        todo = "Correct the line" + (
            "." if has_heading else ", or begin the file with a heading: topic, item, label."
        )
        problems.append(Problem(path, number, found, expected, todo))


def _heading_problem(heading: list[str], path: str, line: int) -> Problem | None:
    unknown = [name for name in heading if name not in _COLUMNS]
    twice = sorted({name for name in heading if heading.count(name) > 1})
    missing = [name for name in _NEEDED if name not in heading]
    faults = [("no column", missing), ("the unknown column", unknown), ("twice the column", twice)]
    found = "; ".join(f"{what} {', '.join(map(repr, names))}" for what, names in faults if names)
    if not found:
        return None
    expected = f"{', '.join(_NEEDED)}, and of {', '.join(_COLUMNS[3:])} those that are known"
    return Problem(path, line, found[:200], expected, "Correct the heading.")


def _cell(text: str) -> str:
    cell = text.strip()
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _read(row: _Row, path: str, labels: set[int], problems: list[Problem]) -> JudgedLine | None:
    before = len(problems)

    def value(name: str, read: Callable[[str], Any], expected: str, todo: str) -> Any:
        cell = row.cells.get(name, "")
        if not cell and name not in _NEEDED:
            return None
        try:
            return read(cell)
        except (ValueError, OverflowError):
            found = f"the {name} {cell[:80]!r}" if cell else f"no {name}"
            problems.append(Problem(path, row.line, found, expected, todo))

    scale = sorted(labels - set(NOT_JUDGMENTS))
    fields = {
        "topic": value("topic", _identifier, "a topic of the task", "Fill the cell."),
        "item": value("item", _identifier, f"an id of at most {LONGEST_ID} characters", "Correct the id."),
        "label": value(
            "label", lambda cell: _label(cell, labels), f"one of {', '.join(map(str, [*scale, *NOT_JUDGMENTS]))}",
            "Correct the label, or take the line out.",
        ),
        "assessor": row.cells.get("assessor") or None,
        "comment": value("comment", _comment, f"at most {LONGEST_COMMENT:,} characters", "Shorten the comment."),
        "active_ms": value(
            "seconds", _milliseconds, f"a number from 0 to {MOST_SECONDS:,}", "Correct it, or leave the cell empty."
        ),
        "judged_at": value(
            "judged_at", _moment, "a time like 2026-11-21T14:05:00Z", "Correct it, or leave the cell empty."
        ),
    }  # fmt: skip
    return JudgedLine(line=row.line, **fields) if len(problems) == before else None


def _identifier(cell: str) -> str:
    if not cell or len(cell) > LONGEST_ID:
        raise ValueError
    return cell


def _label(cell: str, labels: set[int]) -> int:
    match = _WHOLE.fullmatch(cell)
    if match is None or int(match[1]) not in labels:
        raise ValueError
    return int(match[1])


def _comment(cell: str) -> str:
    if len(cell) > LONGEST_COMMENT:
        raise ValueError
    return cell


def _milliseconds(cell: str) -> int:
    seconds = float(cell)
    if not 0 <= seconds <= MOST_SECONDS:
        raise ValueError
    return round(seconds * 1000)


def _moment(cell: str) -> datetime:
    moment = datetime.fromisoformat(cell)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _repeated(read: Sequence[JudgedLine | None], path: str) -> Iterator[Problem]:
    first: dict[tuple[str, str], JudgedLine] = {}
    for row in read:
        if row is None:
            continue
        known = first.setdefault((row.topic, row.item), row)
        if known is not row:
            found = f"{row.item} again for topic {row.topic}, after line {known.line}"
            expected, todo = (
                "one label for an item of a topic",
                "Keep the line with the right label.",
            )
            yield Problem(path, row.line, found, expected, todo)
