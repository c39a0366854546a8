"""Rendering of threads as HTML."""

import pytest

from arqkit.texts.html.sanitizer import RULES
from arqlab.core.models import TypesetFormula
from collection.selectors.threads import find_thread
from collection.services.rendering import render_thread
from tests.collection.threads import (
    add_answer,
    add_comment,
    add_question,
    link,
    make_collection,
    rich_thread,
)
from tests.factories import TopicFactory

pytestmark = pytest.mark.django_db


def rendered(lab, collection, post_id="1", **more):
    return render_thread(find_thread(collection, post_id), lab=lab, **more)


def test_only_links_within_the_collection_are_active(lab):
    html = rendered(lab, rich_thread(lab)).question.body_html

    assert '<a href="/labs/arqmath-x/posts/20/#post-20">there</a>' in html
    assert '<a href="#post-11">below</a>' in html
    assert '<a href="/labs/arqmath-x/posts/2/?comment=103#comment-103">said</a>' in html
    assert html.count('class="dead-link"') == 2


def test_an_image_is_replaced_by_its_name(lab):
    html = rendered(lab, rich_thread(lab)).question.body_html

    assert "image: a plot" in html
    assert "x.png at i.example.org, not loaded" in html
    assert "<img" not in html


def test_headings_of_questions_start_at_h3_and_those_of_answers_at_h4(lab):
    collection = make_collection(lab)
    add_question(collection, body="<h1>a</h1>")
    add_answer(collection, "10", body="<h1>a</h1>")

    thread = rendered(lab, collection)
    assert (thread.question.body_html, thread.answers[0].body_html) == ("<h3>a</h3>", "<h4>a</h4>")


def test_a_text_that_was_never_sanitized_is_sanitized(lab):
    collection = make_collection(lab)
    add_question(collection, title="<script>x()</script>", body="<p onclick='x()'>a</p>", rules=0)
    add_comment(collection, "1", on="1", text="<img src=x onerror='x()'>b")

    question = rendered(lab, collection).question
    assert "x()" not in question.title_html + question.body_html + question.comments[0].html


def test_a_text_with_current_rules_is_shown_as_stored(lab):
    collection = make_collection(lab)
    add_question(collection, body="as it came", clean_body="<p>as it was left</p>", rules=RULES)

    assert rendered(lab, collection).question.body_html == "<p>as it was left</p>"


def test_a_text_with_older_rules_is_sanitized_again(lab):
    collection = make_collection(lab)
    add_question(
        collection, body="<p>as it came</p>", clean_body="<script>x()</script>", rules=RULES - 1
    )

    assert rendered(lab, collection).question.body_html == "<p>as it came</p>"


def test_macros_of_a_post_apply_to_its_comments_but_not_to_other_posts(lab):
    collection = make_collection(lab)
    add_question(collection, body=r"<p>$\def\one{\mathbf{1}}$</p>")
    add_comment(collection, "1", on="1", text=r"$\one$")
    add_answer(collection, "10", body=r"<p>$\one$</p>")

    thread = rendered(lab, collection)
    assert "<mn>𝟏</mn>" in thread.question.comments[0].html
    assert "one</mtext>" in thread.answers[0].body_html


def test_formulas_are_typeset_once(lab, monkeypatch):
    collection = rich_thread(lab)
    first = rendered(lab, collection)
    kept = TypesetFormula.objects.count()
    monkeypatch.setattr("arqlab.labs.services.formulas.typeset", None)

    assert rendered(lab, collection) == first
    assert TypesetFormula.objects.count() == kept > 0


def test_linked_questions_have_typeset_titles_or_only_ids(lab):
    links = dict(rendered(lab, rich_thread(lab)).links)

    [two] = links["Marked as a duplicate of"]
    assert "<math" in two.title_html
    assert two.url == "/labs/arqmath-x/posts/2/#post-2"
    assert links["Linked from this thread"][0][:] == ("404", "", "")


def test_a_linked_question_without_a_title_is_shown_by_its_id(lab):
    collection = make_collection(lab)
    add_question(collection)
    add_question(collection, "2", title="")
    link(collection, "1", "2")

    [(_, [two])] = rendered(lab, collection).links
    assert two.title_html == "Question 2"


@pytest.mark.parametrize(("formula_id", "latex"), [("", "x ^2"), ("q_9", "x^{2}"), ("1.1", "z")])
def test_the_query_formula_of_a_topic_is_highlighted_only_in_its_question(
    lab, task, formula_id, latex
):
    collection = make_collection(lab)
    add_question(collection, body="<p>$x^2$ $y$</p>", title="")
    add_answer(collection, "10", body="<p>$x^2$</p>")
    topic = TopicFactory(task=task, formula_id=formula_id, latex=latex)

    thread = rendered(lab, collection, topic=topic)
    assert thread.question.body_html.count("is-highlighted") == 1
    assert "is-highlighted" not in thread.answers[0].body_html


@pytest.mark.parametrize("answers", [1, 10])
def test_a_cached_thread_needs_three_queries_whatever_its_length(
    lab, django_assert_num_queries, answers
):
    collection = rich_thread(lab)
    for number in range(answers):
        add_answer(collection, str(50 + number), body=f"<p>$x_{{{number}}}$</p>")
    rendered(lab, collection)
    thread = find_thread(collection, "1")

    with django_assert_num_queries(3):
        render_thread(thread, lab=lab)
