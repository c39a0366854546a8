"""Topics get their HTML when they are loaded."""

from __future__ import annotations

import pytest

from arqlab.core.services.topic_pages import topic_pages
from arqlab.ir.records import TopicRecord

pytestmark = pytest.mark.django_db


def topic(**fields: object) -> TopicRecord:
    known = {
        "query_id": "B.1",
        "title": "",
        "body": "",
        "tags": (),
        "formula_id": None,
        "latex": None,
    }
    return TopicRecord(**(known | fields))


def test_a_formula_without_an_id_is_numbered_through_title_and_question():
    [page] = topic_pages([topic(title="Is $x$?", body="<p>And $y$?</p>")])

    assert 'data-formula-id="B.1.1"' in page.title
    assert 'data-formula-id="B.1.2"' in page.body


def test_the_query_formula_is_typeset_and_marked_in_the_question():
    span = '<span class="math-container" id="q_1">$x^2$</span>'
    [page] = topic_pages([topic(body=f"<p>{span}</p>", formula_id="q_1", latex="x^2")])

    assert page.formula.startswith('<span class="math-container" data-latex="x^2"><math>')
    assert 'is-highlighted" data-formula-id="q_1"' in page.body


def test_a_topic_without_a_query_formula_has_no_match():
    [page] = topic_pages([topic(body="<p>$x$</p>")])

    assert page.formula == ""
    assert "mark" not in page.body


def test_the_formulas_of_all_topics_are_read_in_one_query(django_assert_num_queries):
    topics = [topic(query_id=f"B.{number}", body=f"<p>$x_{number}$</p>") for number in range(20)]
    topic_pages(topics)

    with django_assert_num_queries(1):
        topic_pages(topics)
