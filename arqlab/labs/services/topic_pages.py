"""The HTML of topics, rendered when they are loaded and after changes of the typesetter."""

import time
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

from django.db import transaction

from arqkit import records
from arqkit.texts.html.foreign import text_html
from arqkit.texts.html.rendering import (
    Key,
    PostText,
    addresses_of,
    compose,
    keys_of,
    matching_formulas,
    one_formula,
    read_text,
)
from arqkit.texts.html.sanitizer import clean_title_and_body
from arqkit.texts.maths.macros import Definitions
from arqkit.texts.maths.typesetting import ENGINE, Typeset
from arqlab.core.models import Corrections, Lab, Topic
from arqlab.labs.selectors import corrections_of
from arqlab.labs.services.formulas import typeset_formulas

AT_ONCE = 20  # topics of another version


class TopicPage(NamedTuple):
    """The title, question and query formula of a topic as safe HTML."""

    title: str
    body: str
    formula: str


class _Read(NamedTuple):
    title: PostText
    body: PostText
    formula: PostText
    highlight: frozenset[str]

    @property
    def texts(self) -> tuple[PostText, ...]:
        """Return title, question and query formula, whose formulas are typeset together."""
        return self.title, self.body, self.formula


def topic_pages(
    topics: Iterable[records.TopicRecord], corrected: Mapping[str, str] | None = None
) -> list[TopicPage]:
    """Return the HTML of topics in order: sanitized, typeset, with the query formula marked.

    Links are disabled. `corrected` has the LaTeX that the lab shows instead of other LaTeX.
    """
    read = [_read(topic) for topic in topics]
    formulas = typeset_formulas(keys_of(text for page in read for text in page.texts), corrected)
    return [_page(page, formulas) for page in read]


def typeset_old_topics(*, seconds: float) -> None:
    """Typeset topics of other versions of the typesetter again, for about `seconds`."""
    end = time.monotonic() + seconds
    old_topics = Topic.objects.exclude(engine__in=("", ENGINE))
    # Lock the topics: an edit in the meantime must not get the page of its earlier text.
    old_topics = old_topics.select_related("task__lab").select_for_update(of=("self",))
    is_left = True
    while is_left and time.monotonic() < end:
        with transaction.atomic():
            old = list(old_topics.order_by("task__lab", "pk")[:AT_ONCE])
            for lab, topics in groupby(old, key=lambda topic: topic.task.lab):
                _renew(list(topics), corrections_of(lab))
        is_left = bool(old)


def topic_texts(topic: Topic) -> tuple[PostText, ...]:
    """Return the title, question and query formula of a topic, before they are typeset."""
    return _read(topic.record).texts


def renew_topics(lab: Lab, latex: str) -> None:
    """Typeset the topics that contain a formula again, after its correction changed."""
    # Lock the topics: an edit in the meantime must not get the page of its earlier text.
    topics = Topic.objects.filter(task__lab=lab).exclude(engine="").select_for_update(of=("self",))
    having = [
        topic for topic in topics if any(key[0] == latex for key in keys_of(topic_texts(topic)))
    ]
    _renew(having, corrections_of(lab))


def _renew(topics: list[Topic], corrections: Corrections) -> None:
    pages = topic_pages((topic.record for topic in topics), corrections.formulas)
    for topic, page in zip(topics, pages, strict=True):
        topic.title_html, topic.body_html, topic.formula_html = page
        topic.engine = ENGINE
    Topic.objects.bulk_update(topics, ["title_html", "body_html", "formula_html", "engine"])


def question_with_links(
    topic: records.TopicRecord,
    local_pages: Callable[[list[str]], Mapping[str, str]],
    corrected: Mapping[str, str],
) -> str:
    """Return the question of a topic as on its page, but with links that `local_pages` resolves."""
    read = _read(topic)
    links = local_pages(addresses_of([read.body]))
    formulas = typeset_formulas(keys_of([read.body]), corrected)
    return str(compose(read.body, formulas=formulas, links=links.get, highlight=read.highlight))


def _read(topic: records.TopicRecord) -> _Read:
    written = topic.body + "".join(
        f"<p><strong>{name}</strong></p>{text_html(text)}"
        for name, text in (("Scenario", topic.scenario), ("Relevance criteria", topic.criteria))
        if text
    )
    title, body = clean_title_and_body(topic.title, written, post_id=topic.query_id)
    latex = topic.latex or ""
    definitions = Definitions()
    return _Read(
        title=read_text(title.html, definitions),
        body=read_text(body.html, definitions),
        formula=one_formula(latex, definitions),
        highlight=matching_formulas(
            [*title.formulas, *body.formulas], formula_id=topic.formula_id or "", latex=latex
        ),
    )


def _page(read: _Read, formulas: Mapping[Key, Typeset]) -> TopicPage:
    title, body, formula = (
        str(compose(text, formulas=formulas, highlight=read.highlight))
        for text in (read.title, read.body, read.formula)
    )
    return TopicPage(title, body, formula)
