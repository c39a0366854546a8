"""Read and write topic information: category, difficulty, dependency, complexity (protocol §3).

ARQMath-1 has it as JSON, ARQMath-2 and -3 as CSV, with different names: `Dependence` or
`Dependency`, `TopicType` or `Category`, `Low` or `Easy`. Here each has one name and one set of
values. Everything else is kept as it is.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping

from arqkit.formats.source_text import FileKind, source_text
from arqkit.formats.tables import exact_table
from arqkit.records import FileRefusedError, Problem
from arqkit.topics import InfoRow, heading, normalized_value

TopicInfo = dict[str, dict[str, str]]

_KEYS = {
    "topictype": "category",
    "category": "category",
    "difficulty": "difficulty",
    "dependence": "dependency",
    "dependency": "dependency",
    "multipart": "multi_part",
    "complexity": "complexity",
    "elements": "elements",
}
_KNOWN = frozenset(_KEYS.values())
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
    rows, problems = (
        _json_rows(text, path) if text.lstrip().startswith("{") else _csv_rows(text, path)
    )
    # The file of ARQMath-1 has the headings of its columns as a topic, which has no number.
    known = {
        topic: row._replace(values=_normalised(row.values))
        for topic, row in rows.items()
        if _NUMBER.search(topic)
    }
    return known, problems


def _normalised(row: Mapping[str, str]) -> dict[str, str]:
    named = {_KEYS.get(_plain(key), key): value for key, value in row.items()}
    return {
        key: normalized_value(key, value) if key in _KNOWN else value
        for key, value in named.items()
    }


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _json_rows(text: str, path: str) -> tuple[dict[str, InfoRow], list[Problem]]:
    expected, todo = (
        "a JSON object with an object for each topic",
        "Write it as {topic: {key: value}}.",
    )
    repeated: list[str] = []
    try:
        topics = json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, repeated))
    except json.JSONDecodeError as error:
        return {}, [Problem(path, error.lineno, f"invalid JSON ({error.msg})", expected, todo)]
    except RecursionError:
        return {}, [Problem(path, None, "too deeply nested JSON", expected, todo)]
    problems = [
        Problem(path, None, f"the name {name} twice", "each name once", "Remove one of the two.")
        for name in repeated
    ]
    rows: dict[str, InfoRow] = {}
    for topic, row in topics.items():
        if isinstance(row, dict):
            rows[topic] = InfoRow(None, {key: str(value) for key, value in row.items()})
        else:
            problems.append(Problem(path, None, f"{row!r} for the topic {topic}", expected, todo))
    return rows, problems


def _object(pairs: list[tuple[str, object]], repeated: list[str]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    repeated.extend(sorted({name for name in names if names.count(name) > 1}))
    return dict(pairs)


def _csv_rows(text: str, path: str) -> tuple[dict[str, InfoRow], list[Problem]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader)]
    except csv.Error as error:
        return {}, [
            Problem(
                path, 1, f"invalid CSV ({error})", "the names of the columns", "Correct the line."
            )
        ]
    topic_at = next((at for at, name in enumerate(header) if _plain(name) in _TOPIC_COLUMNS), None)
    if topic_at is None:
        actual, todo = (
            f"the columns {', '.join(header)[:80]}",
            "Rename the column with the topic numbers to Topic.",
        )
        return {}, [Problem(path, 1, actual, "a column Topic", todo)]
    rows: dict[str, InfoRow] = {}
    problems: list[Problem] = []
    for line, cells in _cells(reader, path, problems):
        topic = cells[topic_at] if topic_at < len(cells) else ""
        if len(cells) != len(header):
            expected, todo = (
                f"{len(header)} cells, as in the first line",
                "Add or remove cells.",
            )
            problems.append(Problem(path, line, f"{len(cells)} cells", expected, todo))
        elif not topic or topic in rows:
            actual = f"the topic {topic} again" if topic else "no topic"
            problems.append(
                Problem(path, line, actual, "each topic once", "Correct the number of the topic.")
            )
        else:
            named = zip(header, cells, strict=True)
            rows[topic] = InfoRow(
                line, {name: cell for name, cell in named if name != header[topic_at]}
            )
    return rows, problems


def _cells(
    reader: "Iterator[list[str]]", path: str, problems: list[Problem]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row that is not empty, with the number of its last line.

    An unreadable rest of the file, as after an unclosed quotation mark, becomes a problem.
    """
    try:
        for row in reader:
            if any(row):
                yield getattr(reader, "line_num", 0), [cell.strip() for cell in row]
    except csv.Error as error:
        line = getattr(reader, "line_num", 0)
        problems.append(
            Problem(path, line, f"invalid CSV ({error})", "valid CSV", "Correct the line.")
        )


def write_topic_info(topics: Mapping[str, Mapping[str, str]], fields: Iterable[str]) -> bytes:
    """Return topic information as CSV: Topic and the fields, with ARQMath-3's column headings."""
    names = list(fields)
    rows = ([topic, *(facts.get(name, "") for name in names)] for topic, facts in topics.items())
    return exact_table([["Topic", *map(heading, names)], *rows])
