"""The contents of a collection, its imports, and missing data."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arqlab.core.models import Lab
from collection.models import Author, Comment, Import, Post, PostLink, Tag
from collection.selectors.imports import holdings_of, import_row, import_rows, missing_parts
from tests.collection.factories import NOW, load_small, make_import

pytestmark = pytest.mark.django_db


def test_the_contents_of_a_collection_are_counted(lab: Lab, tmp_path: Path) -> None:
    small = load_small(lab, tmp_path)
    Post.objects.create(
        collection=small, post_id="50", thread_id="50", kind="question", body="", is_searched=False
    )
    Post.objects.filter(post_id="1").update(created_at=datetime(2010, 7, 20, tzinfo=UTC))
    Post.objects.filter(post_id="12").update(created_at=datetime(2018, 12, 31, tzinfo=UTC))
    Comment.objects.create(collection=small, comment_id="1", post_id="1", text="Yes.")
    for related, kind in (("2", "duplicate"), ("2", "related"), ("10", "related")):
        PostLink.objects.create(collection=small, post_id="1", related_id=related, kind=kind)
    Tag.objects.create(collection=small, name="limits")
    Author.objects.create(collection=small, author_id="7", name="Emmy")

    held = holdings_of(small)
    assert (held.questions, held.answers, held.later, held.formulas) == (2, 3, 1, 3)
    assert (held.comments, held.related, held.duplicates, held.tags, held.authors) == (
        1,
        2,
        1,
        1,
        1,
    )
    assert (held.first_post.year, held.last_post.year) == (2010, 2018)


def test_a_collection_without_files_is_empty(lab: Lab, tmp_path: Path) -> None:
    held = holdings_of(load_small(lab, tmp_path, posts=None, formulas=None))

    assert (held.questions, held.answers, held.formulas, held.first_post) == (0, 0, 0, None)


def test_missing_data_is_listed_with_its_effect(lab: Lab, tmp_path: Path) -> None:
    small = load_small(lab, tmp_path, posts=None, formulas=None)
    lacks = missing_parts(small, holdings_of(small), [])

    assert len(lacks) == 9
    assert lacks[0].startswith("No posts are imported")


def test_imported_data_is_not_listed_as_missing(lab: Lab, tmp_path: Path) -> None:
    small = load_small(lab, tmp_path)
    small.visual_maps.all().delete()
    make_import(small, kind="votes")
    lacks = missing_parts(small, holdings_of(small), import_rows(small, at=NOW))

    said = " ".join(lacks)
    assert not [word for word in ("No posts", "No votes", "No formula index") if word in said]
    assert "No comments" in said
    assert "Make visual ids" in lacks[-1]


def test_imports_are_ordered_by_kind(lab: Lab, tmp_path: Path) -> None:
    small = load_small(lab, tmp_path)
    for kind in ("latex", "comments", "posts"):
        make_import(small, kind=kind, problems=0, sha256=f"test of {kind}")
    rows = import_rows(small, at=NOW)

    ours = [row.record.kind for row in rows if row.record.sha256.startswith("test of")]
    assert ours == ["posts", "comments", "latex"]


def test_a_stale_import_counts_as_stopped(lab: Lab, tmp_path: Path) -> None:
    record = make_import(load_small(lab, tmp_path), state="running", finished_at=None)
    states = [
        import_row(record.collection, record.pk, at=NOW + timedelta(seconds=seconds)).state
        for seconds in (0, 59, 61)
    ]

    assert states == ["running", "running", "stopped"]


def test_the_highest_count_comes_first(lab: Lab, tmp_path: Path) -> None:
    record = make_import(load_small(lab, tmp_path), counts={"few": 1, "many": 9})

    assert import_row(record.collection, record.pk, at=NOW).counts == [("many", 9), ("few", 1)]
    assert Import.objects.get(pk=record.pk).counts == {"few": 1, "many": 9}
