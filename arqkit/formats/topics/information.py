"""Read and write topic information: category, difficulty, dependency, complexity (protocol §3).

ARQMath-1 has it as JSON, ARQMath-2 and -3 as CSV, with different names: `Dependence` or
`Dependency`, `TopicType` or `Category`, `Low` or `Easy`. Here each has one name and one set of
values. Everything else is kept as it is.
"""

import json
import re
from collections.abc import Iterable, Mapping

from arqkit.formats.nested import json_values
from arqkit.formats.source_text import FileKind, column_of, csv_rows, source_text
from arqkit.formats.tables import exact_table
from arqkit.records import FileProblems, FileRefusedError, Problem
from arqkit.topics import QUERY_TEXTS, InfoRow, heading, normalized_value

TopicInfo = dict[str, dict[str, str]]

_KEYS = {
    "topictype": "category",
    "category": "category",
    "difficulty": "difficulty",
    "dependence": "dependency",
    "dependency": "dependency",
    "multipart": "multi_part",
    "complexity": "complexity",
    "textdependence": "text_dependence",
    "elements": "elements",
    "split": "split",
    "scenario": "scenario",
    "criteria": "criteria",
    "relevancecriteria": "criteria",
}
_KNOWN = frozenset(_KEYS.values()).difference(QUERY_TEXTS)
_NUMBER = re.compile("[0-9]")
_TOPIC_COLUMNS = ("topic", "topicid", "queryid", "number")


def read_topic_info(data: bytes, *, path: str) -> TopicInfo:
    """Return topic information as {topic: {key: value}}, all values as text.

    Raise FileRefusedError with every problem: neither JSON nor CSV, a row without a topic, a
    repeated topic, wrong columns.
    """
    rows, problems = read_info_rows(data, path=path)
    if problems:
        raise FileRefusedError(problems)
    return {topic: row.values for topic, row in rows.items()}


def read_info_rows(data: bytes, *, path: str) -> tuple[dict[str, InfoRow], list[Problem]]:
    """Return the readable topic information by topic, and the problems of the rest."""
    try:
        text = source_text(data, FileKind.INFORMATION, path=path)
    except FileRefusedError as refused:
        return {}, list(refused.problems)
    problems = FileProblems(path)
    read = _json_rows if text.lstrip().startswith("{") else _csv_rows
    rows = read(text, problems)
    # The file of ARQMath-1 has the headings of its columns as a topic, which has no number.
    numbered = {topic: row for topic, row in rows.items() if _NUMBER.search(topic)}
    for topic, row in numbered.items():
        plain = {key: re.sub("[^a-z0-9]", "", key.lower()) for key in row.values}
        named = {_KEYS.get(plain[key], key): value for key, value in row.values.items()}
        information = {key: normalized_value(key, named[key]) for key in named if key in _KNOWN}
        numbered[topic] = row._replace(values=named | information)
    return numbered, problems


def _json_rows(text: str, problems: FileProblems) -> dict[str, InfoRow]:
    expected = "a JSON object with an object for each topic"
    todo = "Write it as {topic: {key: value}}."
    repeated: list[str] = []
    rows: dict[str, InfoRow] = {}
    try:
        topics = json_values(text, pairs=lambda pairs: _object(pairs, repeated))
    except json.JSONDecodeError as error:
        problems.add(error.lineno, f"invalid JSON ({error.msg})", expected, todo)
        return rows
    for name in repeated:
        problems.add(None, f"the name {name} twice", "each name once", "Remove one of the two.")
    for topic, row in topics.items():
        if isinstance(row, dict):
            rows[topic] = InfoRow(None, {key: str(value) for key, value in row.items()})
        else:
            problems.add(None, f"{row!r} for the topic {topic}", expected, todo)
    return rows


def _object(pairs: list[tuple[str, object]], repeated: list[str]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    repeated.extend(sorted({name for name in names if names.count(name) > 1}))
    return dict(pairs)


def _csv_rows(text: str, problems: FileProblems) -> dict[str, InfoRow]:
    lines = csv_rows(text, problems, strict=True)
    _, header = next(lines, (1, []))
    topic_at = column_of(_TOPIC_COLUMNS, header)
    rows: dict[str, InfoRow] = {}
    if topic_at is None:
        if not problems:
            actual = f"the columns {', '.join(header)[:80]}"
            todo = "Rename the column with the topic numbers to Topic."
            problems.add(1, actual, "a column Topic", todo)
        return rows
    for line, cells in lines:
        topic = cells[topic_at] if topic_at < len(cells) else ""
        if len(cells) != len(header):
            expected = f"{len(header)} cells, as in the first line"
            problems.add(line, f"{len(cells)} cells", expected, "Add or remove cells.")
        elif not topic or topic in rows:
            actual = f"the topic {topic} again" if topic else "no topic"
            problems.add(line, actual, "each topic once", "Correct the number of the topic.")
        else:
            values = dict(zip(header, cells, strict=True))
            del values[header[topic_at]]
            rows[topic] = InfoRow(line, values)
    return rows


def write_topic_info(topics: Mapping[str, Mapping[str, str]], fields: Iterable[str]) -> bytes:
    """Return topic information as CSV: Topic and the fields, with ARQMath-3's column headings."""
    names = list(fields)
    rows = ([topic, *(facts.get(name, "") for name in names)] for topic, facts in topics.items())
    return exact_table([["Topic", *map(heading, names)], *rows])
