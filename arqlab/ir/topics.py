"""What organizers say of a topic and may change (protocol §3): its fields by kind of task, their
values, and changes.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple

import polars as pl

from arqlab.ir.records import Problem, TaskKind

_QUESTION_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "category": ("computation", "concept", "proof"),
    "difficulty": ("easy", "medium", "hard"),
    "dependency": ("text", "formula", "both"),
    "multi_part": ("yes", "no"),
}
_FORMULA_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "complexity": ("low", "medium", "high"),
    "elements": (),
}
# What the editions call the same.
_SAME: Final[Mapping[str, Mapping[str, str]]] = {
    "category": {"calculation": "computation"},
    "difficulty": {"low": "easy", "high": "hard"},
}
_HEADINGS: Final[Mapping[str, str]] = {"multi_part": "Multi-Part"}

LONGEST_VALUE: Final = 100
"""Characters of a value: it stands in a cell of a table."""


def natural_key(query_id: str) -> tuple[tuple[int, int, str], ...]:
    """Return what to sort a topic number by, so that A.2 stands before A.10."""
    parts = re.split(r"([0-9]+)", query_id)
    return tuple(
        (0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part)
        for part in parts
        if part
    )


def topic_order(topics: Iterable[str]) -> pl.Enum:
    """Return topics as the type of a column that sorts as people count: A.2 before A.10."""
    return pl.Enum(sorted(set(topics), key=lambda topic: (natural_key(topic), topic)))


class InfoRow(NamedTuple):
    """What a file says of one topic, and the line that says it (JSON has none)."""

    line: int | None
    values: dict[str, str]


class FactChange(NamedTuple):
    """One value of a topic's information as somebody saw it (`was`) and wants it; an empty one is
    none.
    """

    query_id: str
    field: str
    was: str
    value: str


def info_fields(kind: TaskKind) -> Mapping[str, tuple[str, ...]]:
    """Return the fields that a kind of task has, each with its usual values; a field without any is
    free text.
    """
    return _FORMULA_FIELDS if kind is TaskKind.FORMULAS else _QUESTION_FIELDS


def fact_value(field: str, text: str) -> str:
    """Return a value as it is kept: lower case, single blanks, and one word where the editions have
    two.
    """
    value = " ".join(text.lower().split())
    return _SAME.get(field, {}).get(value, value)


def merged_info(info: Mapping[str, str], edits: Mapping[str, str]) -> dict[str, str]:
    """Lay edits over the information of a folder, field by field; an edit that is empty takes the
    value away.
    """
    return {name: value for name, value in {**info, **edits}.items() if value or name not in edits}


def edits_after(
    info: Mapping[str, str], edits: Mapping[str, str], changes: Mapping[str, str]
) -> dict[str, str]:
    """Return the edits when fields changed; a value that is the folder's own is none, so that it
    follows the folder.
    """
    changed = {**edits, **changes}
    return {name: value for name, value in changed.items() if value != info.get(name, "")}


def changes_of_file(
    rows: Mapping[str, InfoRow],
    facts: Mapping[str, Mapping[str, str]],
    fields: Iterable[str],
    *,
    path: str,
) -> tuple[list[FactChange], list[Problem]]:
    """Return what a file of topic information would change of the facts that hold, and what of it
    cannot be.

    Other columns than `fields` are passed over; a topic or a field that the file does not have
    stays as it is.
    """
    names = list(fields)
    changes: list[FactChange] = []
    problems: list[Problem] = []
    for topic, row in rows.items():
        if topic not in facts:
            problems.append(_unknown_topic(topic, row.line, facts, path))
            continue
        for name in names:
            value, was = row.values.get(name), facts[topic].get(name, "")
            if value is not None and len(value) > LONGEST_VALUE:
                found, expected = (
                    f"{len(value)} characters for {name} of {topic}",
                    f"at most {LONGEST_VALUE}",
                )
                problems.append(Problem(path, row.line, found, expected, "Shorten the value."))
            elif value is not None and value != was:
                changes.append(FactChange(topic, name, was, value))
    if rows and not any(name in row.values for row in rows.values() for name in names):
        known = ", ".join(heading(name) for name in names)
        todo = "Name the columns in the first line as the download does."
        problems.insert(
            0, Problem(path, 1, "none of the columns that can be changed", f"one of {known}", todo)
        )
    return changes, problems


def heading(field: str) -> str:
    """Return the heading of a field's column, as ARQMath-3 has it."""
    return _HEADINGS.get(field, field.capitalize())


def _unknown_topic(topic: str, line: int | None, known: Iterable[str], path: str) -> Problem:
    near = get_close_matches(topic, list(known), n=1)
    todo = f"Did you mean {near[0]}?" if near else "Take the line out."
    return Problem(path, line, f"the topic {topic[:80]}", "a topic of this task", todo)


def write_topic_info(topics: Mapping[str, Mapping[str, str]], fields: Iterable[str]) -> bytes:
    """Return topic information as the CSV of the labs: Topic and the fields, named as ARQMath-3 names
    them.
    """
    names = list(fields)
    file = io.StringIO(newline="")
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["Topic", *(heading(name) for name in names)])
    rows.writerows(
        [topic, *(facts.get(name, "") for name in names)] for topic, facts in topics.items()
    )
    return file.getvalue().encode()
