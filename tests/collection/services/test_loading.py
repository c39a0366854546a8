"""Loading a collection."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from arqlab.core.errors import UserError
from arqlab.core.models import Lab
from arqlab.ir.labfile import read_lab
from arqlab.ir.records import FileRefusedError
from collection.models import Collection, Post
from collection.selectors import collection_of, formulas_frame, posts_frame
from collection.services import load_collection
from tests.collection.factories import NOW, POSTS, collection_file, load_small
from tests.factories import LabFactory

pytestmark = pytest.mark.django_db


def test_questions_and_answers_become_posts(lab: Lab, tmp_path: Path) -> None:
    loaded = load_small(lab, tmp_path)
    assert list(loaded.posts.values_list("post_id", "kind", "thread_id")) == [
        ("1", "question", "1"),
        ("10", "answer", "1"),
        ("11", "answer", "1"),
        ("2", "question", "2"),
        ("12", "answer", "2"),
    ]


def test_tags_are_read_in_both_forms(lab: Lab, tmp_path: Path) -> None:
    loaded = load_small(lab, tmp_path)
    assert [post.tags for post in loaded.posts.filter(kind="question")] == [["parity", "squares"], ["limits"]]


def test_the_ids_stand_in_columns(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path)
    assert posts_frame(lab).rows()[1] == ("10", "answer", "1")
    assert formulas_frame(lab).select("formula_id", "post_id", "visual_id").rows()[:2] == [
        ("7", "1", "70"),
        ("8", "10", None),
    ]


def test_a_gzipped_file_is_read(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml.gz"
    path.write_bytes(gzip.compress(POSTS.encode()))
    file = replace(collection_file(tmp_path, formulas=None), files={"posts": path})
    assert load_collection(lab=lab, file=file, at=NOW).posts.count() == 5


def test_loading_twice_changes_nothing(lab: Lab, tmp_path: Path) -> None:
    first = load_small(lab, tmp_path)
    kept = list(first.posts.values_list("pk", flat=True))
    second = load_small(lab, tmp_path)
    assert (second.pk, second.posts_index.name) == (first.pk, first.posts_index.name)
    assert list(second.posts.values_list("pk", flat=True)) == kept


def test_two_labs_search_one_collection(lab: Lab, tmp_path: Path) -> None:
    other = LabFactory()
    assert load_small(lab, tmp_path) == load_small(other, tmp_path)
    assert collection_of(other).labs.count() == 2


def test_other_files_replace_the_posts_and_the_columns(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path)
    posts_frame(lab)
    load_small(lab, tmp_path, posts=POSTS.replace('Id="12"', 'Id="13"'))
    assert "13" in posts_frame(lab)["post_id"]
    assert Post.objects.filter(post_id="12").count() == 0


def test_a_lab_does_not_change_what_another_searches(lab: Lab, tmp_path: Path) -> None:
    loaded = load_small(lab, tmp_path)

    with pytest.raises(UserError, match=f"is searched by {lab.slug}, and its files differ"):
        load_small(LabFactory(), tmp_path, posts=POSTS.replace('Id="12"', 'Id="13"'))
    assert loaded.posts.filter(post_id="12").exists()


def test_a_collection_that_becomes_complete_is_not_read_again(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path, complete=False)
    assert load_small(lab, tmp_path, complete=True).is_complete


def test_a_lab_without_files_has_no_columns(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path, posts=None, formulas=None)
    assert (posts_frame(lab), formulas_frame(lab)) == (None, None)


def test_a_broken_file_loads_nothing(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(FileRefusedError):
        load_small(lab, tmp_path, posts=POSTS.replace('Id="12"', 'Id="11"'))
    assert not Collection.objects.exists()


def test_the_real_sample_loads(lab: Lab, shared_data: Path) -> None:
    file = read_lab(shared_data / "arqmath-1").collection
    loaded = load_collection(lab=lab, file=file, at=NOW)
    kinds = [loaded.posts.filter(kind=kind).count() for kind in ("question", "answer")]
    assert (kinds, posts_frame(lab).height) == ([2769, 3395], 6164)
