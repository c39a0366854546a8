"""The pages of threads, of posts and of topics."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from arqlab.core.models import Lab, Task
from tests.collection.factories import load_small
from tests.collection.lookup import make_searched
from tests.collection.threads import (
    add_answer,
    add_comment,
    add_question,
    make_collection,
    rich_thread,
)
from tests.factories import AssessorFactory, make_lab

pytestmark = pytest.mark.django_db
SignIn = Callable[[object], Client]


def page(lab: Lab, post_id: str = "10") -> str:
    return reverse("collection:post-detail", args=[lab.slug, post_id])


def test_the_thread_of_an_answer_shows_question_and_answers(
    lab: Lab, tmp_path: Path, client: Client
) -> None:
    load_small(lab, tmp_path)
    html = client.get(page(lab)).text
    assert html.index("I do not see it.") < html.index("Since") < html.index("there.")
    assert "<math" in html


def test_an_address_with_a_null_byte_is_none_of_a_post(
    lab: Lab, tmp_path: Path, client: Client
) -> None:
    load_small(lab, tmp_path)
    assert client.get(page(lab, "10\0")).status_code == 404


def test_hostile_html_of_a_post_is_gone(lab: Lab, tmp_path: Path, client: Client) -> None:
    load_small(lab, tmp_path)
    html = client.get(page(lab)).text
    assert "onclick" not in html
    assert "x()" not in html


def test_an_unknown_post_is_not_found(lab: Lab, tmp_path: Path, client: Client) -> None:
    load_small(lab, tmp_path)
    assert client.get(page(lab, "99")).status_code == 404


def test_a_lab_without_collection_has_no_posts(lab: Lab, client: Client) -> None:
    assert client.get(page(lab)).status_code == 404


def test_posts_of_a_draft_are_not_found_by_visitors(tmp_path: Path, client_of: SignIn) -> None:
    draft = make_lab("draft", is_public=False)
    load_small(draft.lab, tmp_path)
    assert client_of(AnonymousUser()).get(page(draft.lab)).status_code == 404
    assert client_of(draft.member).get(page(draft.lab)).status_code == 200


def test_a_page_shows_everything_that_is_known_of_a_thread(lab: Lab, client: Client) -> None:
    rich_thread(lab)
    html = " ".join(strip_tags(client.get(page(lab, "1")).text).split())

    assert "Score 5 1,234 views" in html
    assert (
        "Asked 2012-03-04 05:06 UTC by Ada, reputation 12,345, badges: 1 gold, 0 silver, 3 bronze"
        in html
    )
    assert "2 answers and 8 comments" in html
    assert "Tags: sums" in html
    assert "404 (not in the collection)" in html


def test_the_accepted_answer_comes_first_and_is_marked_by_a_word(lab: Lab, client: Client) -> None:
    rich_thread(lab)
    html = client.get(page(lab, "10")).text

    assert html.index('id="post-11"') < html.index("Accepted answer") < html.index('id="post-10"')
    assert html.index('id="post-10"') < html.index("Requested post")


def test_every_post_and_comment_has_a_place_and_a_link_to_it(lab: Lab, client: Client) -> None:
    rich_thread(lab)
    html = client.get(page(lab, "1")).text

    for post_id in ("1", "10", "11"):
        assert f'id="post-{post_id}"' in html
        assert f'href="/labs/arqmath-x/posts/{post_id}/#post-{post_id}"' in html
    assert 'id="comment-101"' in html
    assert 'href="/labs/arqmath-x/posts/1/?comment=101#comment-101"' in html


def test_more_than_five_comments_are_folded_and_all_there(lab: Lab, client: Client) -> None:
    rich_thread(lab)
    html = client.get(page(lab, "1")).text

    assert html.count('<details class="comments-fold">') == 1
    assert "<summary>6 comments</summary>" in html
    assert all(f'id="comment-{number}"' in html for number in range(111, 117))


def test_an_instance_that_was_asked_for_is_marked_and_can_be_gone_to(
    lab: Lab, client: Client
) -> None:
    rich_thread(lab)
    html = client.get(page(lab, "10"), {"formula": "10.1"}).text

    assert 'data-formula-id="10.1" data-latex="x=2y" id="formula-10.1">' in html
    assert html.count("is-highlighted") == 1
    assert 'href="#formula-10.1"' in html
    assert (
        "does not occur in the collection" in client.get(page(lab, "10"), {"formula": "999"}).text
    )


def test_a_link_to_a_folded_comment_or_to_a_formula_in_one_unfolds_it(
    lab: Lab, client: Client
) -> None:
    add_comment(rich_thread(lab), "117", on="11", text="See $y$")

    assert (
        '<details class="comments-fold" open>'
        not in client.get(page(lab, "1"), {"comment": "101"}).text
    )
    for asked in ({"comment": "115"}, {"formula": "c117.1"}):
        assert '<details class="comments-fold" open>' in client.get(page(lab, "1"), asked).text


def test_comments_are_shown_with_the_marks_that_people_typed(lab: Lab, client: Client) -> None:
    add_comment(
        rich_thread(lab),
        "118",
        on="1",
        text="*Not* so: [here](https://math.stackexchange.com/a/20)",
    )
    html = client.get(page(lab, "1")).text

    assert '<em>Not</em> so: <a href="/labs/arqmath-x/posts/20/#post-20">here</a>' in html


def test_a_path_of_the_site_in_a_post_leads_to_the_post(lab: Lab, client: Client) -> None:
    add_answer(rich_thread(lab), "12", body='<p><a href="/questions/2/two">two</a></p>')

    assert '<a href="/labs/arqmath-x/posts/2/#post-2">two</a>' in client.get(page(lab, "1")).text


def test_those_who_look_up_get_the_pages_of_formulas_when_they_ask(
    lab: Lab, client_of: SignIn, organizer: Any
) -> None:
    make_searched(lab)
    asked = {"formulas": "links"}

    assert (
        '<a class="formula-link" href="/labs/arqmath-x/formulas/'
        in client_of(organizer).get(page(lab), asked).text
    )
    assert "formula-link" not in client_of(organizer).get(page(lab)).text
    assert "formula-link" not in client_of(AnonymousUser()).get(page(lab), asked).text


def test_a_thread_without_its_question_shows_a_message(lab: Lab, client: Client) -> None:
    add_answer(make_collection(lab), "10", to="9")
    html = " ".join(strip_tags(client.get(page(lab, "10")).text).split())

    assert "Thread without its question" in html
    assert "The question 9 is not in the collection. The thread has 1 answer" in html


def test_a_question_without_title_or_answers_has_a_heading_and_shows_a_message(
    lab: Lab, client: Client
) -> None:
    add_question(make_collection(lab), title="")
    html = client.get(page(lab, "1")).text

    assert "<h1>Question 1 (untitled)</h1>" in html
    assert "The collection contains no answers to this question." in html


def test_a_post_outside_the_window_shows_that_it_is_not_searched(lab: Lab, client: Client) -> None:
    add_question(make_collection(lab), is_searched=False)

    assert "systems do not search this thread" in client.get(page(lab, "1")).text


@pytest.mark.parametrize("answers", [1, 15])
def test_a_page_takes_the_same_queries_whatever_its_length(
    lab: Lab,
    client: Client,
    answers: int,
    settings: Any,
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    settings.MIDDLEWARE = settings.MIDDLEWARE[:-1]  # the first page stores its formulas
    collection = rich_thread(lab)
    for number in range(answers):
        add_answer(collection, str(50 + number), body=f"<p>$x_{{{number}}}$</p>")
    client.get(page(lab, "1"))

    with django_assert_num_queries(12):
        client.get(page(lab, "1"))


@pytest.fixture
def task(task: Task) -> Task:
    """A task whose threads everyone sees; `test_closed_threads` has the others."""
    task.threads = Task.Threads.OPEN
    task.save()
    return task


def topic_page(task: Task) -> str:
    return reverse("collection:topic-thread", args=[task.lab.slug, task.slug, "A.1"])


def test_a_topic_shows_the_thread_that_it_was_made_of(lab: Lab, task: Task, client: Client) -> None:
    rich_thread(lab)
    task.topics.filter(query_id="A.1").update(
        thread_id="1", latex="x^2", formula_html="<math></math>"
    )
    html = client.get(topic_page(task)).text

    assert "Accepted answer" in html
    assert html.count("is-highlighted") == 1
    assert "Query formula" in html


@pytest.mark.parametrize(
    ("thread_id", "said"),
    [("404", "was not imported"), ("", "The thread of this topic is unknown")],
)
def test_a_topic_whose_thread_is_not_here_shows_its_own_question_and_why(
    lab: Lab, task: Task, client: Client, thread_id: str, said: str
) -> None:
    rich_thread(lab)
    task.topics.filter(query_id="A.1").update(thread_id=thread_id)
    html = client.get(topic_page(task)).text

    assert said in html
    assert "The question of A.1" in html


def test_a_topic_has_a_thread_page_without_any_collection(task: Task, client: Client) -> None:
    task.topics.filter(query_id="A.1").update(thread_id="1")

    assert "was not imported" in client.get(topic_page(task)).text


def test_a_query_formula_that_is_not_in_the_question_is_reported(
    lab: Lab, task: Task, client: Client
) -> None:
    rich_thread(lab)
    task.topics.filter(query_id="A.1").update(
        thread_id="1", latex="z^9", formula_html="<math></math>"
    )

    assert "The query formula does not occur in the collection" in client.get(topic_page(task)).text


def test_a_topics_page_leads_to_its_thread(task: Task, client: Client) -> None:
    html = client.get(reverse("labs:topic-detail", args=[task.lab.slug, task.slug, "A.1"])).text

    assert f'href="{topic_page(task)}"' in html


def test_those_who_look_up_get_the_pages_of_formulas_from_a_topics_thread_too(
    task: Task, client_of: SignIn, organizer: Any
) -> None:
    make_searched(task.lab)
    task.topics.filter(query_id="A.1").update(thread_id="1")
    client, asked = client_of(organizer), f"{topic_page(task)}?formulas=links"

    assert f'href="{asked}"' in client.get(topic_page(task)).text
    assert '<a class="formula-link" href="/labs/arqmath-x/formulas/' in client.get(asked).text
    assert "formulas=links" not in client_of(AnonymousUser()).get(topic_page(task)).text
    assert "formula-link" not in client_of(AnonymousUser()).get(asked).text


def test_an_unknown_topic_has_no_thread(task: Task, client: Client) -> None:
    assert client.get(topic_page(task).replace("A.1", "A.9")).status_code == 404


def test_the_judging_page_gets_the_thread_alone_which_no_cache_keeps(
    lab: Lab, tmp_path: Path, client_of: SignIn
) -> None:
    load_small(lab, tmp_path)
    user = AssessorFactory(lab=lab).user
    response = client_of(user).get(page(lab), headers={"X-Judging-User": str(user.pk)})
    assert "Since" in response.text
    assert "<html" not in response.text
    assert response.headers["X-Judging-User"] == str(user.pk)
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.parametrize("person", ["nobody", "another user"])
def test_the_judging_page_of_a_user_who_signed_out_gets_no_thread(
    person: str, lab: Lab, tmp_path: Path, client_of: SignIn
) -> None:
    load_small(lab, tmp_path)
    user = AnonymousUser() if person == "nobody" else AssessorFactory(lab=lab).user
    response = client_of(user).get(page(lab), headers={"X-Judging-User": "99"})
    assert response.status_code == 401
    assert "Since" not in response.text
