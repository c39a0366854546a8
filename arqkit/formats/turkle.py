"""Write a pool as a batch of Turkle (or Mechanical Turk), and read the results of one.

Turkle replaces each `${field}` of the template by a cell as it is, within a form of its own with a
button that submits it. Its results repeat the fields as `Input.*`, and have what was chosen as
`Answer.*`.
"""

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime
from html import escape
from pathlib import Path
from typing import NamedTuple

from arqkit.formats.source_text import csv_rows
from arqkit.formats.tables import exact_table
from arqkit.labels import LabelScale
from arqkit.records import FileProblems

_LONGEST_CELL = 2**27
"""The characters of the longest cell; the default of the csv module is less than a long post."""
_COLUMNS = {
    "topic": "Input.topic",
    "item": "Input.item",
    "label": "Answer.label",
    "comment": "Answer.comment",
    "assessor": "Turkle.Username",
    "seconds": "WorkTimeInSeconds",
    "judged_at": "SubmitTime",
}
_NEEDED = ("topic", "item", "label", "assessor")
_OWN = set(
    "HITId HITTypeId Title CreationTime MaxAssignments AssignmentDurationInSeconds AssignmentId "
    "WorkerId AcceptTime Input.topic_html Input.item_html".split()
)
_TEMPLATE = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")


class BatchRow(NamedTuple):
    """What gets one label: the ids of topic and item, and both as safe HTML."""

    topic: str
    item: str
    topic_html: str
    item_html: str


def turkle_template(scale: LabelScale, *, style: str, instruction: str) -> str:
    """Return the HTML template of a batch: an instruction, and a radio button for each label.

    `style` has the rules for posts and formulas, and the colours; it may load nothing.
    """
    labels = "\n".join(
        f'  <label><input type="radio" name="label" value="{label.value}" required> '
        f"{escape(label.word)}</label>"
        for label in scale
    )
    filled = _TEMPLATE.replace("@labels@", labels).replace("@instruction@", escape(instruction))
    return filled.replace("@style@", style)


def turkle_batch(rows: Iterable[BatchRow]) -> Iterator[bytes]:
    """Yield the lines of the batch CSV. No text of a post is taken for a field of the template."""
    yield exact_table([BatchRow._fields], end="\r\n")
    for row in rows:
        ids, texts = row[:2], row[2:]
        cells = [*ids, *(text.replace("${", "&#36;{") for text in texts)]
        yield exact_table([cells], end="\r\n")


def is_of_turkle(text: str) -> bool:
    """Return whether a text starts with the headings of Turkle's results."""
    return "Turkle.Username" in _header(text)


def unused_columns(text: str) -> list[str]:
    """Return the columns of Turkle's results that are neither read nor Turkle's or the batch's."""
    columns = _OWN.union(_COLUMNS.values())
    return [name for name in _header(text) if name not in columns] if is_of_turkle(text) else []


def _header(text: str) -> list[str]:
    try:
        return next(csv.reader([text.lstrip("\ufeff").split("\n", 1)[0]]), [])
    except csv.Error:  # such as a cell of more than 128 KiB
        return []


def turkle_rows(text: str, problems: FileProblems) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the results as cells by the columns of judgments, each with its last line.

    The cells are not checked, but times are those of ISO 8601. A missing column is a problem.
    """
    header = _header(text.replace("\r\n", "\n"))
    missing = [name for key in _NEEDED if (name := _COLUMNS[key]) not in header]
    if missing:
        expected = ", ".join(_COLUMNS[key] for key in _NEEDED)
        todo = "Download the results of a batch that was exported here."
        problems.add(1, f"no column {', '.join(missing)}", expected, todo)
        return
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        rows = list(csv_rows(text, problems, strict=True))
    finally:
        csv.field_size_limit(limit)  # it holds for all readers of the process
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            actual, todo = f"{len(cells)} columns", "Correct the line, or download the file again."
            problems.add(line, actual, f"{len(header)} columns, as in the headings", todo)
            continue
        values = dict(zip(header, cells, strict=True))
        row = {key: values.get(name, "") for key, name in _COLUMNS.items()}
        yield line, row | {"judged_at": _iso(row["judged_at"])}


def _iso(cell: str) -> str:
    """Return Turkle's time (Thu Nov 26 15:06:20 UTC 2026) in ISO 8601; leave others as they are."""
    for zone in ("UTC", "GMT"):
        try:
            return datetime.strptime(f"{cell} +0000", f"%a %b %d %H:%M:%S {zone} %Y %z").isoformat()
        except ValueError:
            continue
    return cell
