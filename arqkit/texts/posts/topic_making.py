"""Topics made from questions: numbered, with renumbered formulas and a query formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from html import unescape
from typing import NamedTuple

from arqkit.formats.topics.write import TopicFormula
from arqkit.records import TopicRecord
from arqkit.texts.posts.text import TextFormula, renumbered, text_formulas

_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^>]*>", re.DOTALL)


def text_key(html: str) -> bytes:
    """Return a digest of the text of a post, equal for posts with the same text; b"" if empty.

    Formulas count with their LaTeX, whatever their ids, and case matters: x is not X. Posts with
    images and no text are empty: their images may differ.
    """
    text = "".join(unescape(_TAG.sub(" ", html)).split())
    return blake2b(text.encode(), digest_size=12).digest() if text else b""


def duplicate_groups(posts: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of ids with the same text, from ids and texts, in the order given."""
    groups: dict[bytes, list[str]] = {}
    for name, html in posts:
        if key := text_key(html):
            groups.setdefault(key, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


Size = tuple[int, ...]
"""The size of a formula; sizes are compared number by number."""


class Question(NamedTuple):
    """A sanitized question to make topics from; `query_formula` is the id of a formula or ""."""

    number: int
    post_id: str
    title: str
    body: str
    tags: tuple[str, ...]
    query_formula: str = ""


@dataclass(frozen=True)
class MadeTopics:
    """Topics of Task 1 and Task 2 (for questions with a formula), and the index of all formulas."""

    questions: list[TopicRecord] = field(default_factory=list)
    formulas: list[TopicRecord] = field(default_factory=list)
    index: list[TopicFormula] = field(default_factory=list)


def make_topics(questions: Iterable[Question], *, size: Callable[[str], Size]) -> MadeTopics:
    """Return the topics A.n and B.n of questions, in order of their numbers.

    `size` returns the size of a formula. If a question names no query formula, its largest formula
    is used (see `query_formula`).
    """
    topics = MadeTopics()
    for question in sorted(questions, key=lambda question: question.number):
        chosen = _chosen(question, size)
        ids: dict[int, str] = {}
        title, body = (
            _numbered(text, kind, question, topics.index, ids) for kind, text in _texts(question)
        )
        topic = TopicRecord(f"A.{question.number}", title, body, question.tags)
        topics.questions.append(topic)
        if chosen is not None:
            place, formula = chosen
            number = f"B.{question.number}"
            topics.formulas.append(
                topic._replace(query_id=number, formula_id=ids[place], latex=formula.latex)
            )
    return topics


def query_formula(title: str, body: str, *, size: Callable[[str], Size]) -> TextFormula | None:
    """Return the largest formula of the title, or of the body if the title has none.

    Ties go to the first formula.
    """
    formulas = text_formulas(title) or text_formulas(body)
    return max(formulas, key=lambda formula: size(formula.latex), default=None)


def layout_size(layout: str | None, latex: str) -> Size:
    """Return the size of a formula: the nodes of its layout tree (protocol §10), then its length.

    The length is that of the LaTeX without white space. A formula without a layout has no nodes, so
    it is only chosen if no formula has any.
    """
    nodes = sum(item[0].isupper() for item in (layout or "").split(" ") if item)
    return nodes, len(re.sub(r"\s", "", latex))


def _texts(question: Question) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("title", question.title), ("body", question.body)


def _chosen(question: Question, size: Callable[[str], Size]) -> tuple[int, TextFormula] | None:
    """Return the query formula and its position among all formulas of the question."""
    formulas: Sequence[TextFormula] = text_formulas(question.title) + text_formulas(question.body)
    wanted = question.query_formula
    if wanted:
        return next(
            ((at, formula) for at, formula in enumerate(formulas) if formula.formula_id == wanted),
            None,
        )
    largest = query_formula(question.title, question.body, size=size)
    return None if largest is None else (formulas.index(largest), largest)


def _numbered(
    text: str, kind: str, question: Question, index: list[TopicFormula], ids: dict[int, str]
) -> str:
    def number(formula: TextFormula) -> str:
        ids[len(ids)] = f"q_{len(index) + 1}"
        index.append(
            TopicFormula(
                ids[len(ids) - 1], f"A.{question.number}", question.post_id, kind, formula.latex
            )
        )
        return index[-1].formula_id

    return renumbered(text, number)
