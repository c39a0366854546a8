"""Topics: their ids and their order, and the information that organizers may edit (protocol §3)."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple
from urllib.parse import unquote

import polars as pl

from arqkit.records import Problem, TaskKind

QUOTES: Final = "\"'`“”„‘’«» "
_MARKS: Final = {"\ufeff": "⟨BOM⟩"}

_QUESTION_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "category": ("computation", "concept", "proof"),
    "difficulty": ("easy", "medium", "hard"),
    "dependency": ("text", "formula", "both"),
    "multi_part": ("yes", "no"),
    "split": ("train", "test"),
}
_FORMULA_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "complexity": ("low", "medium", "high"),
    "text_dependence": ("low", "medium", "high"),
    "elements": (),
    "split": ("train", "test"),
}
# Synonyms across the editions of the lab.
_SYNONYMS: Final[Mapping[str, Mapping[str, str]]] = {
    "category": {"calculation": "computation"},
    "difficulty": {"low": "easy", "high": "hard"},
    "split": {"training": "train", "testing": "test"},
}
_HEADINGS: Final[Mapping[str, str]] = {
    **{
        name: name.capitalize()
        for name in (*_QUESTION_FIELDS, *_FORMULA_FIELDS, "scenario", "criteria")
    },
    "multi_part": "Multi-Part",
    "text_dependence": "Text dependence",
}

QUERY_TEXTS: Final = ("scenario", "criteria")
"""Information that assessors read with the query: its scenario, and its criteria of relevance."""
LONGEST_VALUE: Final = 100
"""The most characters of a value, so that it fits into a table cell."""


def visible(text: str) -> str:
    """Return a text with its invisible characters as `⟨U+00A0⟩`, but for blanks and line ends."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in "\t\r\n" else _mark(sign) for sign in text)


def _mark(sign: str) -> str:
    return _MARKS.get(sign, f"⟨U+{ord(sign):04X}⟩")


def plain_id(name: str) -> str:
    """Return an id as most collections write it.

    It has no quotation marks around it, no invisible, full-width or URL-encoded characters, and if
    it is a number no leading zeros and no `.0`.
    """
    text = unicodedata.normalize("NFKC", unquote(name))
    text = "".join(sign for sign in text if sign.isprintable()).strip(QUOTES)
    return re.sub(r"^0+(?=[0-9]+$)", "", re.sub(r"^([0-9]+)\.0+$", r"\1", text))


def meant_topics(names: Iterable[str], topics: Iterable[str]) -> dict[str, str]:
    """Return the topic that each name means, by the names that mean one.

    A name means the only topic that differs from it in case, punctuation, leading zeros and what
    `plain_id` ignores. A number alone means the only topic with this number.
    """
    by_key: dict[str, set[str]] = {}
    for topic in topics:
        for key in {_topic_key(topic), _topic_key(re.sub(r"\D", "", topic))} - {""}:
            by_key.setdefault(key, set()).add(topic)
    candidates = {name: by_key.get(_topic_key(plain_id(name)), set()) for name in names}
    return {name: min(alike) for name, alike in candidates.items() if len(alike) == 1}


def _topic_key(name: str) -> str:
    return re.sub(r"[\W_]|(?<!\d)0+(?=\d)", "", name).casefold()


def natural_key(query_id: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key for topic ids, so that A.2 sorts before A.10."""
    parts = re.split(r"([0-9]+)", query_id)
    return tuple(
        (0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part)
        for part in parts
        if part
    )


def topic_order(topics: Iterable[str]) -> pl.Enum:
    """Return a column type that sorts topics naturally: A.2 before A.10."""
    return pl.Enum(sorted(set(topics), key=lambda topic: (natural_key(topic), topic)))


class InfoRow(NamedTuple):
    """The values a file holds for one topic, and their line number (None in JSON)."""

    line: int | None
    values: dict[str, str]


class InfoChange(NamedTuple):
    """A change of one value of a topic: what the editor saw (`was`), and the new value or ""."""

    query_id: str
    field: str
    was: str
    value: str


def info_fields(kind: TaskKind) -> Mapping[str, tuple[str, ...]]:
    """Return the fields of a kind of task with their usual values; free-text fields have none."""
    return _FORMULA_FIELDS if kind is TaskKind.FORMULAS else _QUESTION_FIELDS


def level_field(kind: TaskKind) -> str:
    """Return the field that says how hard the topics of a kind of task are (000 §4.1, 003 §6)."""
    return "complexity" if kind is TaskKind.FORMULAS else "difficulty"


def normalized_value(field: str, text: str) -> str:
    """Return a value in canonical form: lower case, single spaces, synonyms replaced."""
    value = " ".join(text.lower().split())
    return _SYNONYMS.get(field, {}).get(value, value)


def merged_info(info: Mapping[str, str], edits: Mapping[str, str]) -> dict[str, str]:
    """Return a lab folder's information with edits applied; an empty edit removes the value."""
    return {name: value for name, value in {**info, **edits}.items() if value or name not in edits}


def updated_edits(
    info: Mapping[str, str], edits: Mapping[str, str], changes: Mapping[str, str]
) -> dict[str, str]:
    """Return the edits after some fields changed.

    A value equal to the folder's is not stored as an edit, so that it follows the folder.
    """
    changed = {**edits, **changes}
    return {name: value for name, value in changed.items() if value != info.get(name, "")}


def info_changes(
    rows: Mapping[str, InfoRow],
    facts: Mapping[str, Mapping[str, str]],
    fields: Iterable[str],
    *,
    path: str,
) -> tuple[list[InfoChange], list[Problem]]:
    """Return the changes a topic information file makes to the current values, and its problems.

    Columns other than `fields` are ignored. Topics and fields missing from the file keep their
    values.
    """
    names = list(fields)
    changes: list[InfoChange] = []
    problems: list[Problem] = []
    for topic, row in rows.items():
        if topic not in facts:
            problems.append(_unknown_topic(topic, row.line, facts, path))
            continue
        for name in names:
            value, was = row.values.get(name), facts[topic].get(name, "")
            if value is not None and len(value) > LONGEST_VALUE:
                actual, expected = (
                    f"{len(value)} characters for {name} of {topic}",
                    f"at most {LONGEST_VALUE}",
                )
                problems.append(Problem(path, row.line, actual, expected, "Shorten the value."))
            elif value is not None and value != was:
                changes.append(InfoChange(topic, name, was, value))
    if rows and not any(name in row.values for row in rows.values() for name in names):
        headings = ", ".join(heading(name) for name in names)
        todo = "Name the columns in line 1 as in the downloaded file."
        problems.insert(
            0, Problem(path, 1, "none of the editable columns", f"one of {headings}", todo)
        )
    return changes, problems


def heading(field: str) -> str:
    """Return the column heading of a field as in ARQMath-3; others are as their file has them."""
    return _HEADINGS.get(field, field)


def _unknown_topic(topic: str, line: int | None, topics: Iterable[str], path: str) -> Problem:
    near = get_close_matches(topic, list(topics), n=1)
    todo = f"Did you mean {near[0]}?" if near else "Remove the line."
    return Problem(path, line, f"the topic {topic[:80]}", "a topic of this task", todo)
