"""Updating the search indexes after posts change."""

from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from arqkit.texts.posts.queries import parse_query
from collection import tasks
from collection.models import Collection, Post, PostWords, TextIndex, VisualMap
from collection.selectors.search import search_posts
from collection.selectors.visual_maps import newest_map
from collection.services.indexing import (
    INDEX_CLAIM,
    index_formulas,
    index_if_small,
    index_posts,
    unindexed_collections,
)
from tests.collection.lookup import add_formulas, add_post, formula, make_collection

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection(lab) -> Collection:
    made = make_collection(lab)
    add_post(
        made, "1", f"<p>Alpha {formula('7', 'beta')}</p>", title="A <b>title</b>", tags=["limits"]
    )
    add_post(made, "10", "<p>gamma</p>", thread_id="1")
    index_posts(collection=made)
    return made


def total(collection: Collection, text: str) -> int:
    return search_posts(collection, parse_query(text)).total


def test_the_words_exclude_formulas(collection):
    assert PostWords.objects.values_list("title", "body").get(post__post_id="1") == (
        "a title",
        "alpha",
    )


def test_the_sanitized_text_is_indexed(collection):
    add_post(collection, "5", "<p>hostile</p>", clean_body="<p>harmless</p>")
    index_posts(collection=collection)

    assert (total(collection, "hostile"), total(collection, "harmless")) == (0, 1)


def test_a_second_call_indexes_nothing(collection):
    assert index_posts(collection=collection) == 0
    assert not unindexed_collections().exists()


def test_a_collection_with_a_new_post_needs_indexing(collection):
    add_post(collection, "2", "<p>delta</p>")

    assert list(unindexed_collections()) == [collection]
    assert index_posts(collection=collection) == 1
    assert total(collection, "delta") == 1


def test_a_changed_post_loses_its_words_and_is_indexed_again(collection):
    Post.objects.filter(post_id="10").update(clean_body="<p>epsilon</p>")

    assert total(collection, "gamma") == 0
    assert index_posts(collection=collection) == 1
    assert (total(collection, "gamma"), total(collection, "epsilon")) == (0, 1)


def test_a_change_of_other_fields_keeps_the_words(collection):
    Post.objects.filter(post_id="10").update(score=9, rules=2)

    assert not unindexed_collections().exists()


def test_changed_tags_of_a_question_apply_to_its_answers(collection):
    Post.objects.filter(post_id="1").update(tags=["series"])
    index_posts(collection=collection)

    assert (total(collection, "tag:limits"), total(collection, "tag:series kind:answer")) == (0, 1)


def test_a_deleted_post_is_not_found(collection):
    Post.objects.filter(post_id="10").delete()

    assert (total(collection, "gamma"), PostWords.objects.count()) == (0, 1)


def test_a_post_that_leaves_the_window_is_not_found(collection):
    Post.objects.filter(post_id="10").update(is_searched=False)
    index_posts(collection=collection)

    assert total(collection, "gamma") == 0


def test_an_interrupted_pass_continues_and_is_complete_only_then(lab):
    collection = make_collection(lab)
    first = add_post(collection, "1", "<p>one</p>").pk
    add_post(collection, "2", "<p>two</p>", pk=first + 5000)

    assert index_posts(collection=collection, seconds=-1) == 1
    assert list(unindexed_collections()) == [collection]
    assert index_posts(collection=collection, seconds=-1) == 0
    assert index_posts(collection=collection) == 1
    assert not unindexed_collections().exists()


def test_posts_added_during_a_pass_leave_the_index_incomplete(collection):
    add_post(collection, "2", "<p>delta</p>")

    index_posts(
        collection=collection,
        progress=lambda done, of: add_post(collection, f"9{done}", "<p>late</p>"),
    )

    assert list(unindexed_collections()) == [collection]


def test_the_task_updates_incomplete_indexes(lab):
    collection = make_collection(lab)
    add_post(collection, "1", "<p>zeta</p>")
    add_formulas(collection)

    tasks.index_waiting()

    assert total(collection, "zeta") == 1
    assert newest_map(collection).pairs


def test_a_small_collection_is_indexed_at_once(lab):
    collection = make_collection(lab)
    add_post(collection, "1", "<p>eta</p>")

    index_if_small(collection=collection)

    assert TextIndex.objects.get().indexed == 0
    assert total(collection, "eta") == 1


def test_the_pairs_of_formulas_are_indexed_once(lab):
    version = add_formulas(make_collection(lab))
    name = index_formulas(version=version).pairs.name

    assert index_formulas(version=version).pairs.name == name


def test_pairs_claimed_by_another_process_are_skipped(lab):
    version = add_formulas(make_collection(lab))
    VisualMap.objects.update(pairs_claimed_at=timezone.now())

    tasks.index_waiting()

    assert index_formulas(version=version).pairs.name == ""


def test_pairs_claimed_by_a_dead_process_are_indexed(lab):
    add_formulas(make_collection(lab))
    VisualMap.objects.update(pairs_claimed_at=timezone.now() - INDEX_CLAIM - timedelta(seconds=1))

    tasks.index_waiting()

    version = VisualMap.objects.get()
    assert (bool(version.pairs), version.pairs_claimed_at) == (True, None)


def test_a_claim_of_pairs_outlives_the_task_that_makes_them():
    assert tasks.index_waiting.time_limit < INDEX_CLAIM.total_seconds()


def test_pairs_can_be_indexed_at_once_after_an_error(lab):
    version = add_formulas(make_collection(lab))
    default_storage.delete(version.forms.name)

    with pytest.raises(FileNotFoundError):
        index_formulas(version=version)

    assert VisualMap.objects.get().pairs_claimed_at is None


def test_after_changes_and_deletions_the_index_agrees_with_its_words(collection):
    Post.objects.filter(post_id="10").update(body="<p>theta</p>")
    index_posts(collection=collection)
    Post.objects.filter(post_id="1").delete()
    # FTS5 has a separate index, which may differ from the words; PostgreSQL has a generated column.
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            # Raises "database disk image is malformed" if the index and the words differ.
            cursor.execute(
                "INSERT INTO collection_postwords_index(collection_postwords_index, rank) "
                "VALUES ('integrity-check', 1)"
            )

    assert total(collection, "theta") == 1
