"""Topics get their HTML when they are loaded."""

import pytest

from arqkit.records import TopicRecord
from arqkit.texts.maths.typesetting import ENGINE
from arqlab.core.models import Topic
from arqlab.labs.services import topic_pages as module
from arqlab.labs.services.topic_pages import topic_pages, typeset_old_topics
from tests.factories import make_lab

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


def old_topic(**fields: object) -> Topic:
    """Return a topic whose HTML another version of the typesetter made."""
    given = topic(query_id="B.1", title="Is $x$?", body="<p>$x^2$</p>", latex="x^2")
    task = make_lab().task
    return Topic.objects.create(
        task=task,
        position=99,
        title_html="old",
        body_html="old",
        formula_html="old",
        **{name: getattr(given, name) for name in ("query_id", "title", "body")},
        **{"latex": given.latex or "", "tags": [], "engine": "older", **fields},
    )


def test_the_html_of_another_version_is_made_again_in_the_background():
    made = old_topic()

    typeset_old_topics(seconds=30)

    made.refresh_from_db()
    [page] = topic_pages([topic(title="Is $x$?", body="<p>$x^2$</p>", latex="x^2")])
    assert (made.title_html, made.body_html, made.formula_html, made.engine) == (*page, ENGINE)


@pytest.mark.parametrize(("engine", "seconds"), [("", 30), (ENGINE, 30), ("older", -1)])
def test_other_html_stays_and_without_time_nothing_is_made(engine, seconds):
    made = old_topic(engine=engine)

    typeset_old_topics(seconds=seconds)

    made.refresh_from_db()
    assert made.title_html == "old"


def test_topics_are_made_again_in_parts(monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 1)
    old_topic()
    Topic.objects.update(engine="older")

    typeset_old_topics(seconds=30)

    assert Topic.objects.count() > 1
    assert set(Topic.objects.values_list("engine", flat=True)) == {ENGINE}
