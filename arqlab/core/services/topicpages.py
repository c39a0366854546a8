"""The HTML of topics, made once when they are loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from arqlab.core.cleaning import CleanText, clean_line, clean_post
from arqlab.core.definitions import Definitions
from arqlab.core.highlighting import places_of
from arqlab.core.posthtml import Key, PostText, compose, keys_of, read_text
from arqlab.core.services.formulas import typeset_formulas
from arqlab.core.typesetting import Typeset
from arqlab.ir import records


class TopicPage(NamedTuple):
    """Title, question and query formula of a topic as safe HTML."""

    title: str
    body: str
    formula: str


class _Read(NamedTuple):
    title: PostText
    body: PostText
    formula: PostText
    highlight: frozenset[str]


def topic_pages(topics: Iterable[records.Topic]) -> list[TopicPage]:
    """Give the HTML of topics, in their order: sanitized, typeset, links dead, the query formula marked where it stands."""
    read = [_read(topic) for topic in topics]
    formulas = typeset_formulas(keys_of(text for page in read for text in (page.title, page.body, page.formula)))
    return [_page(page, formulas) for page in read]


def _read(topic: records.Topic) -> _Read:
    title, body = clean_topic(topic.query_id, topic.title, topic.body)
    latex = topic.latex or ""
    definitions = Definitions()
    return _Read(
        title=read_text(title.html, definitions),
        body=read_text(body.html, definitions),
        formula=read_text(clean_line(f"${latex}$", prefix="query").html, definitions) if latex else read_text(""),
        highlight=places_of([*title.formulas, *body.formulas], formula_id=topic.formula_id or "", latex=latex),
    )


def clean_topic(query_id: str, title: str, body: str) -> tuple[CleanText, CleanText]:
    """Clean a topic's title and question; formulas without an id are numbered through both."""
    line = clean_line(title, prefix=query_id)
    numbered = sum(formula.is_numbered for formula in line.formulas)
    return line, clean_post(body, prefix=query_id, first=numbered + 1)


def _page(read: _Read, formulas: Mapping[Key, Typeset]) -> TopicPage:
    title, body, formula = (
        str(compose(text, formulas=formulas, highlight=read.highlight)) for text in (read.title, read.body, read.formula)
    )
    return TopicPage(title, body, formula)
