"""Topic candidates: read in batches, with links in both directions."""

import pytest

from arqlab.core.models import Topic
from collection.models import Author, Post, PostLink
from collection.selectors.candidates import (
    candidates_of,
    existing_topics,
    highest_topic_number,
    questions_by_id,
)
from tests.collection.factories import make_dump

pytestmark = pytest.mark.django_db


def by_id(collection, which="later"):
    return {one.post_id: one for one in candidates_of(collection, which=which)}


def test_a_candidate_has_all_criteria():
    one = by_id(make_dump())["101"]

    assert (one.score, one.answers, one.comments, one.views) == (1, 1, 1, 7)
    assert (one.formulas, one.title_formulas, one.tags) == (2, 0, ("sums", "limits"))
    assert (one.duplicates, one.related) == (("1",), ("2",))
    assert one.words > 100
    assert one.created.isoformat() == "2019-01-01T00:00:00+00:00"


def test_a_candidate_has_the_reputation_of_its_asker():
    collection = make_dump()
    Post.objects.filter(post_id="101").update(author_id="7")
    Author.objects.create(collection=collection, author_id="7", name="Asker", reputation=321)

    found = by_id(collection)
    assert (found["101"].reputation, found["102"].reputation) == (321, None)


def test_candidates_are_later_or_searched_questions_or_all():
    collection = make_dump()

    assert [list(by_id(collection, which)) for which in ("later", "searched", "all")] == [
        ["101", "102", "103"],
        ["1", "2"],
        ["1", "2", "101", "102", "103"],
    ]


def test_a_link_to_a_searched_question_counts_once_in_either_direction():
    collection = make_dump()
    PostLink.objects.create(
        collection=collection, post_id="102", related_id="103", kind="duplicate"
    )
    PostLink.objects.create(
        collection=collection, post_id="103", related_id="999", kind="duplicate"
    )
    PostLink.objects.create(collection=collection, post_id="1", related_id="1", kind="duplicate")

    assert {post: one.duplicates for post, one in by_id(collection, "all").items()} == {
        "1": (),
        "2": (),
        "101": ("1",),
        "102": ("1",),
        "103": ("1",),
    }


def test_other_collections_do_not_count():
    collection = make_dump()
    other = make_dump("other", later=1)
    Post.objects.create(collection=other, post_id="9", kind="answer", thread_id="101")

    assert by_id(collection)["101"].answers == 1


def test_a_batch_needs_seven_queries(django_assert_num_queries):
    collection = make_dump(later=20)

    with django_assert_num_queries(7):
        list(candidates_of(collection, which="later"))


def test_all_batches_are_returned(monkeypatch):
    monkeypatch.setattr("collection.selectors.candidates.BATCH", 2)

    assert list(by_id(make_dump(later=5))) == ["101", "102", "103", "104", "105"]


def test_answers_are_not_returned_as_questions():
    assert list(questions_by_id(make_dump(), ["101", "1010", "999"])) == ["101"]


def test_existing_topics_have_threads_and_titles(task):
    Topic.objects.filter(query_id="A.1").update(
        thread_id="77", title='Is <span class="math-container">$x$</span>?'
    )
    threads, titles = existing_topics()

    assert threads == {"77"}
    assert "Is $x$?" in titles
    assert highest_topic_number() == 2
