"""What organizers say of a topic and may change (protocol §3): its fields by kind of task, their values, and changes."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from arqlab.ir.records import TaskKind

_QUESTION_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "category": ("computation", "concept", "proof"),
    "difficulty": ("easy", "medium", "hard"),
    "dependency": ("text", "formula", "both"),
    "multi_part": ("yes", "no"),
}
_FORMULA_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {"complexity": ("low", "medium", "high"), "elements": ()}
_HEADINGS: Final[Mapping[str, str]] = {"multi_part": "Multi-Part"}

LONGEST_VALUE: Final = 100
"""Characters of a value: it stands in a cell of a table."""


class FactChange(NamedTuple):
    """One value of a topic's information as somebody saw it (`was`) and wants it; an empty one is none."""

    query_id: str
    field: str
    was: str
    value: str


def info_fields(kind: TaskKind) -> Mapping[str, tuple[str, ...]]:
    """Give the fields that a kind of task has, each with its usual values; a field without any is free text."""
    return _FORMULA_FIELDS if kind is TaskKind.FORMULAS else _QUESTION_FIELDS


def merged_info(info: Mapping[str, str], edits: Mapping[str, str]) -> dict[str, str]:
    """Lay edits over the information of a folder, field by field; an edit that is empty takes the value away."""
    return {name: value for name, value in {**info, **edits}.items() if value or name not in edits}


def edits_after(info: Mapping[str, str], edits: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    """Give the edits when fields changed; a value that is the folder's own is none, so that it follows the folder."""
    changed = {**edits, **changes}
    return {name: value for name, value in changed.items() if value != info.get(name, "")}


def write_topic_info(topics: Mapping[str, Mapping[str, str]], fields: Iterable[str]) -> bytes:
    """Give topic information as the CSV of the labs: Topic and the fields, named as ARQMath-3 names them."""
    names = list(fields)
    file = io.StringIO(newline="")
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["Topic", *(_HEADINGS.get(name, name.capitalize()) for name in names)])
    rows.writerows([topic, *(facts.get(name, "") for name in names)] for topic, facts in topics.items())
    return file.getvalue().encode()
