"""Queries on threads."""

import pytest

from collection.selectors.threads import Thread, find_thread
from tests.collection.threads import add_answer, add_comment, add_question, link, make_collection

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection(lab):
    return make_collection(lab)


def thread_of(collection, post_id: str = "1") -> Thread:
    thread = find_thread(collection, post_id)
    assert thread is not None
    return thread


def test_the_accepted_answer_comes_first_and_the_others_by_score(collection):
    add_question(collection, accepted_id="12")
    for post_id, score in (("10", None), ("11", 3), ("12", -1), ("13", 7), ("14", 3)):
        add_answer(collection, post_id, score=score)

    assert [post.post_id for post in thread_of(collection).answers] == [
        "12",
        "13",
        "11",
        "14",
        "10",
    ]


@pytest.mark.parametrize("post_id", ["1", "10"])
def test_a_thread_is_found_by_its_question_and_by_an_answer(collection, post_id):
    add_question(collection)
    add_answer(collection, "10")

    assert thread_of(collection, post_id).thread_id == "1"


def test_a_thread_may_lack_its_question(collection):
    add_answer(collection, "10", to="9")

    thread = thread_of(collection, "10")
    assert (thread.question, thread.accepted_id, len(thread.posts)) == (None, "", 1)


def test_an_unknown_post_has_no_thread(collection):
    assert find_thread(collection, "1") is None


def test_comments_are_grouped_by_post_and_ordered_by_date(collection):
    add_question(collection)
    add_comment(collection, "3", on="1", created_at=None)
    add_comment(collection, "2", on="1")
    add_comment(collection, "1", on="1")

    assert [comment.comment_id for comment in thread_of(collection).comments["1"]] == [
        "1",
        "2",
        "3",
    ]


def test_links_are_found_in_both_directions_and_kinds(collection):
    for post_id in "12345":
        add_question(collection, post_id)
    link(collection, "1", "2", "duplicate")
    link(collection, "3", "1", "duplicate")
    link(collection, "1", "4")
    link(collection, "5", "1")

    links = thread_of(collection).links
    groups = (links.duplicate_of, links.duplicates, links.linked, links.linked_from)
    assert [[found.post_id for found in group] for group in groups] == [["2"], ["3"], ["4"], ["5"]]


def test_a_question_linked_twice_is_listed_once(collection):
    add_question(collection)
    for kind in ("related", "duplicate"):
        link(collection, "1", "2", kind)
        link(collection, "2", "1", kind)

    links = thread_of(collection).links
    assert [found.post_id for found in links.duplicate_of] == ["2"]
    assert links.duplicates + links.linked + links.linked_from == ()


def test_a_linked_post_that_was_not_loaded_has_only_its_id(collection):
    add_question(collection)
    link(collection, "1", "404")

    [found] = thread_of(collection).links.linked
    assert (found.post_id, found.post) == ("404", None)


def test_links_inside_the_thread_are_left_out(collection):
    add_question(collection)
    add_answer(collection, "10")
    link(collection, "10", "1")

    assert not thread_of(collection).links.posts


@pytest.mark.parametrize("answers", [1, 12])
def test_a_thread_needs_five_queries_whatever_its_length(
    collection, django_assert_num_queries, answers
):
    add_question(collection, author_id="7")
    link(collection, "1", "2")
    for number in range(answers):
        add_answer(collection, str(10 + number), author_id=str(number))
        add_comment(collection, str(number + 1), on=str(10 + number))

    with django_assert_num_queries(5):
        find_thread(collection, "1")
