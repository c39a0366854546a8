"""Read files of assignments: a topic and an assessor per line, as comma-separated or TSV."""

import csv
import io
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from arqkit.formats.source_text import FileKind, source_text
from arqkit.records import FileRefusedError, Problem

_TOPIC = ("topic", "topicid", "queryid", "number")
_ASSESSOR = ("assessor", "person", "email", "emailaddress", "user", "username", "assessorid")
Person = TypeVar("Person", bound=Hashable)


class AssignmentRow(NamedTuple):
    """A line: a topic and an assessor, as named in the file."""

    line: int
    query_id: str
    assessor: str


def read_assignments(data: bytes, *, path: str) -> tuple[list[AssignmentRow], list[Problem]]:
    """Return the assignments of a file, and a problem for every other line.

    Columns are separated by commas, semicolons or tabs. The first line may name them, in any order
    and among others; otherwise they are topic and assessor.
    """
    try:
        text = source_text(data, FileKind.ASSIGNMENTS, path=path)
    except FileRefusedError as refused:
        return [], list(refused.problems)
    first = text.lstrip().split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max("\t;,", key=first.count))
    rows: list[AssignmentRow] = []
    problems: list[Problem] = []
    places: tuple[int, int] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if places is None:
                places = _columns(cells)
                if places is not None:
                    continue
                places = (0, 1)
            _read(cells, places, reader.line_num, path, rows, problems)
    except csv.Error as error:
        actual, todo = f"invalid CSV ({error})", "Correct the line."
        problems.append(Problem(path, reader.line_num, actual, "valid CSV", todo))
    return rows, problems


def _columns(cells: list[str]) -> tuple[int, int] | None:
    """Return the columns of topic and assessor if the line names them, otherwise None."""
    names = [re.sub("[^a-z]", "", cell.lower()) for cell in cells]
    topic = next((at for at, name in enumerate(names) if name in _TOPIC), None)
    assessor = next((at for at, name in enumerate(names) if name in _ASSESSOR), None)
    return None if topic is None or assessor is None else (topic, assessor)


def _read(
    cells: list[str],
    places: tuple[int, int],
    line: int,
    path: str,
    rows: list[AssignmentRow],
    problems: list[Problem],
) -> None:
    topic, assessor = (cells[at].strip() if at < len(cells) else "" for at in places)
    if topic and assessor:
        rows.append(AssignmentRow(line, topic, assessor))
    else:
        actual = f"no {'assessor' if topic else 'topic'} in {'|'.join(cells)[:80]!r}"
        problems.append(
            Problem(
                path,
                line,
                actual,
                "a topic and an assessor",
                "Fill in the cell, or remove the line.",
            )
        )


def resolve(
    rows: Sequence[AssignmentRow], *, topics: Sequence[str], people: Mapping[str, Person], path: str
) -> tuple[list[tuple[str, Person]], list[Problem]]:
    """Return (topic, person) for rows with a known topic and assessor, and the other problems.

    `people` has the assessors by user name and by lower-case email address.
    """
    known, seen = set(topics), dict[tuple[str, Person], int]()
    problems: list[Problem] = []
    for row in rows:
        person = people.get(row.assessor) or people.get(row.assessor.lower())
        if row.query_id not in known:
            expected = (
                f"a topic of the task, such as {topics[0]}"
                if topics
                else "a topic of the task, which has no topics yet"
            )
            actual = f"the topic {row.query_id[:80]!r}"
            problems.append(
                Problem(path, row.line, actual, expected, "Correct the topic, or remove the line.")
            )
        if person is None:
            actual = f"the assessor {row.assessor[:80]!r}"
            todo = "Correct the name, or first make them an assessor on the People page."
            problems.append(
                Problem(
                    path, row.line, actual, "the user name or email address of an assessor", todo
                )
            )
        elif (row.query_id, person) in seen:
            first = seen[row.query_id, person]
            actual = f"{row.query_id} to {row.assessor} again (first on line {first})"
            problems.append(
                Problem(
                    path, row.line, actual, "each assignment once", "Remove one of the two lines."
                )
            )
        elif row.query_id in known:
            seen[row.query_id, person] = row.line
    return list(seen), problems


def share_out(sizes: Mapping[str, int], loads: Mapping[Person, int]) -> list[tuple[str, Person]]:
    """Assign topics so that everybody has about the same number of items to judge.

    The largest topic comes first, and each goes to the person with the fewest items (ties: the
    first person). `sizes` are the items of topics, `loads` those that people already have.
    """
    had = dict(loads)
    people = {}
    for topic in sorted(sizes, key=lambda topic: -sizes[topic]):
        person = min(had, key=had.__getitem__)
        people[topic] = person
        had[person] += sizes[topic]
    return [(topic, people[topic]) for topic in sizes]
