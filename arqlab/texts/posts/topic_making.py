"""Topics made of questions: numbered, their formulas renumbered over the whole file, one of them
the query formula.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arqlab.formats.topics.write import TopicFormula
from arqlab.ir.records import TopicRecord
from arqlab.texts.posts.text import TextFormula, renumbered, text_formulas

Size = tuple[int, ...]
"""How large a formula is: sizes are compared number by number."""


class Question(NamedTuple):
    """A question to make topics of, its texts as the sanitizer left them; `query_formula` is an id
    in them, or empty.
    """

    number: int
    post_id: str
    title: str
    body: str
    tags: tuple[str, ...]
    query_formula: str = ""


@dataclass(frozen=True)
class MadeTopics:
    """The topics of Task 1, those of Task 2 (only questions with a formula), and the index of all
    formulas.
    """

    questions: list[TopicRecord] = field(default_factory=list)
    formulas: list[TopicRecord] = field(default_factory=list)
    index: list[TopicFormula] = field(default_factory=list)


def make_topics(questions: Iterable[Question], *, size: Callable[[str], Size]) -> MadeTopics:
    """Make the topics A.n and B.n of questions, in the order of their numbers.

    `size` gives how large a formula is; where no query formula is named, the largest is taken
    (`query_formula`).
    """
    made = MadeTopics()
    for question in sorted(questions, key=lambda one: one.number):
        chosen = _chosen(question, size)
        ids: dict[int, str] = {}
        title, body = (
            _numbered(text, kind, question, made.index, ids) for kind, text in _texts(question)
        )
        topic = TopicRecord(f"A.{question.number}", title, body, question.tags)
        made.questions.append(topic)
        if chosen is not None:
            place, formula = chosen
            number = f"B.{question.number}"
            made.formulas.append(
                topic._replace(query_id=number, formula_id=ids[place], latex=formula.latex)
            )
    return made


def query_formula(title: str, body: str, *, size: Callable[[str], Size]) -> TextFormula | None:
    """Return the formula that stands for a question: of the title if it has one, else of the body;
    the largest of them.

    Of two as large it is the first.
    """
    formulas = text_formulas(title) or text_formulas(body)
    return max(formulas, key=lambda formula: size(formula.latex), default=None)


def layout_size(layout: str | None, latex: str) -> Size:
    """Return how large a formula is: the nodes of its symbol layout tree (protocol §10), then the
    length of its LaTeX.

    One whose layout is not known has no nodes, and is only taken where no formula has any.
    """
    nodes = sum(item[0].isupper() for item in (layout or "").split(" ") if item)
    return nodes, len(re.sub(r"\s", "", latex))


def _texts(question: Question) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("title", question.title), ("body", question.body)


def _chosen(question: Question, size: Callable[[str], Size]) -> tuple[int, TextFormula] | None:
    """Return the query formula and its place among all formulas of the question."""
    formulas: Sequence[TextFormula] = text_formulas(question.title) + text_formulas(question.body)
    wanted = question.query_formula
    if wanted:
        return next(
            ((at, one) for at, one in enumerate(formulas) if one.formula_id == wanted), None
        )
    found = query_formula(question.title, question.body, size=size)
    return None if found is None else (formulas.index(found), found)


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
