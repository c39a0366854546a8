"""Topics as the labs publish them: the XML of tasks 1 and 2, and the index of the topics' formulas
(004 figure 1).

The bytes are those of ARQMath's own files, which a test compares: three blanks a level, quotation
marks escaped in texts, a blank after a question, tags between commas.
"""

import csv
import io
from collections.abc import Iterable
from typing import NamedTuple
from xml.sax.saxutils import escape

from arqlab.ir.records import TopicRecord

INDEX_COLUMNS = ("id", "topic_id", "thread_id", "type", "formula")


class TopicFormula(NamedTuple):
    """One row of the index of the topics' formulas; `type` is title or body, the thread is the
    question's post.
    """

    formula_id: str
    topic_id: str
    thread_id: str
    type: str
    latex: str


def write_topics(topics: Iterable[TopicRecord], *, newline: str = "\n") -> bytes:
    """Return the XML of topics. ARQMath-1 and -2 end their lines with CRLF, ARQMath-3 with LF."""
    lines = ['<?xml version="1.0" ?>', "<Topics>"]
    for topic in topics:
        lines += [f'   <Topic number="{_text(topic.query_id)}">', *_elements(topic), "   </Topic>"]
    return "".join(f"{line}{newline}" for line in [*lines, "</Topics>"]).encode()


def write_topic_formulas(formulas: Iterable[TopicFormula]) -> bytes:
    """Return the index of the topics' formulas as TSV, lines ended by CRLF as in all editions."""
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
