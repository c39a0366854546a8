"""Read files of assignments: a topic and an assessor per line, as comma-separated or TSV."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from arqkit.formats.source_text import FileKind, column_of, csv_rows, source_text
from arqkit.records import FileProblems, FileRefusedError, Problem

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
    problems = FileProblems(path)
    delimiter = max("\t;,", key=text.lstrip().split("\n", 1)[0].count)
    lines = list(csv_rows(text, problems, delimiter=delimiter))
    header = lines[0][1] if lines else []
    topic_at, assessor_at = column_of(_TOPIC, header), column_of(_ASSESSOR, header)
    if topic_at is None or assessor_at is None:
        topic_at, assessor_at = 0, 1
    else:
        del lines[0]
    rows: list[AssignmentRow] = []
    for line, cells in lines:
        topic, assessor = (cells[at] if at < len(cells) else "" for at in (topic_at, assessor_at))
        if topic and assessor:
            rows.append(AssignmentRow(line, topic, assessor))
        else:
            actual = f"no {'assessor' if topic else 'topic'} in {'|'.join(cells)[:80]!r}"
            todo = "Fill in the cell, or remove the line."
            problems.add(line, actual, "a topic and an assessor", todo)
    return rows, problems


def resolve(
    rows: Sequence[AssignmentRow], *, topics: Sequence[str], people: Mapping[str, Person], path: str
) -> tuple[list[tuple[str, Person]], list[Problem]]:
    """Return (topic, person) for rows with a known topic and assessor, and the other problems.

    `people` has the assessors by user name and by lower-case email address.
    """
    topic_ids, first_lines = set(topics), dict[tuple[str, Person], int]()
    problems = FileProblems(path)
    a_topic = f"such as {topics[0]}" if topics else "which has no topics yet"
    for row in rows:
        person = people.get(row.assessor) or people.get(row.assessor.lower())
        if row.query_id not in topic_ids:
            actual = f"the topic {row.query_id[:80]!r}"
            todo = "Correct the topic, or remove the line."
            problems.add(row.line, actual, f"a topic of the task, {a_topic}", todo)
        if person is None:
            actual = f"the assessor {row.assessor[:80]!r}"
            expected = "the user name or email address of an assessor"
            todo = "Correct the name, or first make them an assessor on the People page."
            problems.add(row.line, actual, expected, todo)
        elif (row.query_id, person) in first_lines:
            first = first_lines[row.query_id, person]
            actual = f"{row.query_id} to {row.assessor} again (first on line {first})"
            problems.add(row.line, actual, "each assignment once", "Remove one of the two lines.")
        elif row.query_id in topic_ids:
            first_lines[row.query_id, person] = row.line
    return list(first_lines), problems


def share_out(sizes: Mapping[str, int], loads: Mapping[Person, int]) -> list[tuple[str, Person]]:
    """Assign topics so that everybody has about the same number of items to judge.

    Topics are assigned from the largest to the smallest, each to the person with the fewest items
    (ties: the first person). `sizes` are the items of topics, `loads` those that people already
    have.
    """
    had = dict(loads)
    people = {}
    for topic in sorted(sizes, key=lambda topic: -sizes[topic]):
        person = min(had, key=had.__getitem__)
        people[topic] = person
        had[person] += sizes[topic]
    return [(topic, people[topic]) for topic in sizes]
