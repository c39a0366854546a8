"""Write topics as the labs publish them: their XML, and the index of their formulas (004 fig. 1).

The bytes are those of the files of ARQMath: three spaces per level, escaped quotation marks, a
space after a question, tags separated by commas. A test compares them.
"""

import csv
import io
from collections.abc import Iterable
from typing import NamedTuple
from xml.sax.saxutils import escape

from arqkit.records import TopicRecord

INDEX_COLUMNS = ("id", "topic_id", "thread_id", "type", "formula")


class TopicFormula(NamedTuple):
    """A row of the index of topic formulas; `type` is title or body, the thread a question post."""

    formula_id: str
    topic_id: str
    thread_id: str
    type: str
    latex: str


def write_topics(topics: Iterable[TopicRecord], *, newline: str = "\n") -> bytes:
    """Return the XML of topics. ARQMath-1 and -2 have CRLF as line ends, ARQMath-3 has LF."""
    lines = ['<?xml version="1.0" ?>', "<Topics>"]
    for topic in topics:
        lines += [f'   <Topic number="{_text(topic.query_id)}">', *_elements(topic), "   </Topic>"]
    return "".join(f"{line}{newline}" for line in [*lines, "</Topics>"]).encode()


def write_topic_formulas(formulas: Iterable[TopicFormula]) -> bytes:
    """Return the index of topic formulas as TSV, with CRLF line ends as in all editions."""
    file = io.StringIO(newline="")
    rows = csv.writer(file, dialect="excel-tab")
    rows.writerow(INDEX_COLUMNS)
    rows.writerows(formulas)
    return file.getvalue().encode()


def _elements(topic: TopicRecord) -> list[str]:
    formula = [("Formula_Id", topic.formula_id), ("Latex", topic.latex)] if topic.latex else []
    question = [
        ("Title", topic.title),
        ("Question", f"{topic.body} "),
        ("Tags", ",".join(topic.tags)),
    ]
    return [f"      <{name}>{_text(text or '')}</{name}>" for name, text in [*formula, *question]]


def _text(text: str) -> str:
    return escape(text, {'"': "&quot;"})
