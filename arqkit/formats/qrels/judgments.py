"""Read judgments made elsewhere from a TSV with headings or a qrels file, with all problems.

The TSV has the columns topic, item and label, and optionally assessor, comment, seconds, judged_at
and guidelines (the version that the assessor followed), in any order. A cell may be quoted, with
the quotes in it doubled, as spreadsheets write it. A file without headings is read as qrels: topic,
0, item, label.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from arqkit.formats.source_text import FileKind, source_text
from arqkit.labels import LabelScale
from arqkit.records import LONGEST_ID, FileRefusedError, Problem

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
    problems: list[Problem] = []
    rows = list(_rows(text, path, problems))
    if not rows and not problems:
        expected, todo = "at least one judgment", "Check that this is a file of judgments."
        problems.append(Problem(path, None, "no judgments", expected, todo))
    read = [_read(row, path, scale, problems) for row in rows]
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
            f"{len(columns)} columns, as in the headings"
            if has_heading
            else "topic, 0, item, label"
        )
        actual = f"{len(cells)} column{'s' * (len(cells) != 1)} in {line[:80]!r}"
        todo = "Correct the line" + (
            "." if has_heading else ", or start the file with the headings topic, item, label."
        )
        problems.append(Problem(path, number, actual, expected, todo))


def _heading_problem(heading: list[str], path: str, line: int) -> Problem | None:
    unknown = [name for name in heading if name not in _COLUMNS]
    twice = sorted({name for name in heading if heading.count(name) > 1})
    missing = [name for name in _NEEDED if name not in heading]
    faults = [("missing column", missing), ("unknown column", unknown), ("repeated column", twice)]
    actual = "; ".join(f"{what} {', '.join(map(repr, names))}" for what, names in faults if names)
    if not actual:
        return None
    expected = f"the columns {', '.join(_NEEDED)}, and optionally {', '.join(_COLUMNS[3:])}"
    return Problem(path, line, actual[:200], expected, "Correct the headings.")


def _cell(text: str) -> str:
    cell = text.strip()
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _read(row: _Row, path: str, scale: LabelScale, problems: list[Problem]) -> JudgedLine | None:
    before = len(problems)

    def value(name: str, read: Callable[[str], Any], expected: str, todo: str) -> Any:
        cell = row.cells.get(name, "")
        if not cell and name not in _NEEDED:
            return None
        try:
            return read(cell)
        except (ValueError, OverflowError):
            actual = f"the {name} {cell[:80]!r}" if cell else f"no {name}"
            problems.append(Problem(path, row.line, actual, expected, todo))

    known = f"one of {', '.join(map(str, scale.values))}"
    optional = "Correct it, or leave the cell empty."
    most_seconds, most_characters = f"{MAX_SECONDS:,}", f"{LONGEST_COMMENT:,}"
    an_id = f"an id of at most {LONGEST_ID} characters"
    fields = {
        "topic": value("topic", _identifier, "a topic of the task", "Fill in the topic."),
        "item": value("item", _identifier, an_id, "Correct the id."),
        "label": value(
            "label",
            lambda cell: _label(cell, scale),
            known,
            "Correct the label, or remove the line.",
        ),
        "assessor": row.cells.get("assessor") or None,
        "comment": value(
            "comment", _comment, f"at most {most_characters} characters", "Shorten the comment."
        ),
        "active_ms": value(
            "seconds", _milliseconds, f"a number from 0 to {most_seconds}", optional
        ),
        "judged_at": value("judged_at", _moment, "a time such as 2026-11-21T14:05:00Z", optional),
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


def _repeated(read: Sequence[JudgedLine | None], path: str) -> Iterator[Problem]:
    first: dict[tuple[str, str], JudgedLine] = {}
    for row in read:
        if row is None:
            continue
        known = first.setdefault((row.topic, row.item), row)
        if known is not row:
            actual = f"{row.item} again for topic {row.topic} (first on line {known.line})"
            expected, todo = (
                "one label per topic and item",
                "Keep the line with the right label.",
            )
            yield Problem(path, row.line, actual, expected, todo)
