"""Loading a collection."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import transaction

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.folder import read_lab
from arqkit.records import FileRefusedError
from arqlab.core.errors import UserError
from arqlab.core.models import Lab
from collection.models import Collection, Post, VisualMap
from collection.selectors.collections import collection_of, formulas_frame, posts_frame
from collection.services import loading
from collection.services.importing.related_files import import_file
from collection.services.loading import load_collection
from tests.collection.factories import FORMULAS, NOW, POSTS, collection_file, load_small
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
    assert [post.tags for post in loaded.posts.filter(kind="question")] == [
        ["parity", "squares"],
        ["limits"],
    ]


def test_ids_are_stored_in_parquet_files(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path)
    assert posts_frame(lab).rows()[1] == ("10", "answer", "1")
    assert formulas_frame(lab).select("formula_id", "post_id", "visual_id").rows()[:2] == [
        ("7", "1", "70"),
        ("8", "10", "71"),
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


def test_two_labs_can_search_one_collection(lab: Lab, tmp_path: Path) -> None:
    other = LabFactory()
    assert load_small(lab, tmp_path) == load_small(other, tmp_path)
    assert collection_of(other).labs.count() == 2


def test_other_files_replace_posts_and_parquet_files(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path)
    posts_frame(lab)
    load_small(lab, tmp_path, posts=POSTS.replace('Id="12"', 'Id="13"'))
    assert "13" in posts_frame(lab)["post_id"]
    assert Post.objects.filter(post_id="12").count() == 0


def test_a_lab_cannot_change_the_collection_of_another_lab(lab: Lab, tmp_path: Path) -> None:
    loaded = load_small(lab, tmp_path)

    with pytest.raises(
        UserError, match=f"{lab.slug} already uses a collection small with other files"
    ):
        load_small(LabFactory(), tmp_path, posts=POSTS.replace('Id="12"', 'Id="13"'))
    assert loaded.posts.filter(post_id="12").exists()


def test_marking_a_collection_as_complete_does_not_read_it_again(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path, complete=False)
    assert load_small(lab, tmp_path, complete=True).is_complete


def test_a_collection_without_files_has_no_frames(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path, posts=None, formulas=None)
    assert (posts_frame(lab), formulas_frame(lab)) == (None, None)


def test_a_bad_row_is_reported_and_the_others_are_loaded(lab: Lab, tmp_path: Path) -> None:
    loaded = load_small(lab, tmp_path, posts=POSTS.replace('Id="12"', 'Id="11"'))
    record = loaded.imports.get(kind="posts")

    assert (loaded.posts.count(), record.state, record.problem_count) == (4, "done", 1)
    assert posts_frame(lab)["post_id"].to_list() == ["1", "10", "11", "2"]


def test_a_truncated_file_is_loaded_up_to_its_end(lab: Lab, tmp_path: Path) -> None:
    loaded = load_small(lab, tmp_path, posts=POSTS[: POSTS.index('<row Id="2"')])

    assert loaded.imports.get(kind="posts").problem_count == 1
    assert posts_frame(lab)["post_id"].to_list() == ["1", "10", "11"]


def test_a_bad_formula_is_reported(lab: Lab, tmp_path: Path) -> None:
    loaded = load_small(lab, tmp_path, formulas=FORMULAS + "x9\t12\t2\tanswer\t\tz\n")
    [problem] = loaded.imports.get(kind="latex").problems.all()

    assert (problem.source, problem.line) == ("formulas.tsv", 5)
    assert formulas_frame(lab).height == 3


def test_an_unknown_header_is_refused_before_anything_is_loaded(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(FileRefusedError, match=r"formulas\.tsv:1"):
        load_small(lab, tmp_path, formulas="formula\tplace\nx\t1\n")
    assert not Collection.objects.exists()


def test_a_missing_file_is_refused_before_anything_is_loaded(lab: Lab, tmp_path: Path) -> None:
    file = replace(collection_file(tmp_path), files={"posts": tmp_path / "none.xml"})

    with pytest.raises(FileRefusedError, match="no such file"):
        load_collection(lab=lab, file=file, at=NOW)
    assert not Collection.objects.exists()


def test_loading_resumes_after_an_interruption(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(**_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loading, "import_formulas", stop)
        with pytest.raises(KeyboardInterrupt):
            load_small(lab, tmp_path)
    kept = list(Post.objects.values_list("pk", flat=True))
    load_small(lab, tmp_path)

    assert list(Post.objects.values_list("pk", flat=True)) == kept
    assert formulas_frame(lab).height == 3


def test_files_imported_by_commands_are_not_read_again(lab: Lab, tmp_path: Path) -> None:
    file = collection_file(tmp_path)
    collection = Collection.objects.create(slug="small", loaded_at=NOW)
    import_file(collection=collection, kind="posts", path=file.posts, window=file.window, at=NOW)
    kept = list(Post.objects.values_list("pk", flat=True))
    load_collection(lab=lab, file=file, at=NOW)

    assert list(Post.objects.values_list("pk", flat=True)) == kept


def test_the_rows_of_a_removed_file_are_deleted(lab: Lab, tmp_path: Path) -> None:
    load_small(lab, tmp_path)
    loaded = load_small(lab, tmp_path, posts=None)

    assert posts_frame(lab) is None
    assert [record.kind for record in loaded.imports.all()] == ["latex"]


def test_formulas_of_a_raw_dump_are_extracted_from_its_posts(lab: Lab, tmp_path: Path) -> None:
    raw = (
        '<posts><row Id="1" PostTypeId="1" Title="Why $a^2$?" Body="&lt;p&gt;See.&lt;/p&gt;"/>'
        '<row Id="10" PostTypeId="2" ParentId="1" '
        'Body="&lt;p&gt;Since $a=2b$ and $a^{2}$.&lt;/p&gt;"/></posts>'
    )
    load_small(lab, tmp_path, posts=raw, formulas=None)
    found = formulas_frame(lab)

    assert found.select("formula_id", "post_id", "type").rows() == [
        ("1.1", "1", "title"),
        ("10.1", "10", "answer"),
        ("10.2", "10", "answer"),
    ]
    assert found["visual_id"][0] == found["visual_id"][2] != found["visual_id"][1]


def test_nothing_is_left_after_a_rolled_back_load(lab: Lab, tmp_path: Path) -> None:
    with transaction.atomic():
        load_small(lab, tmp_path)
        transaction.set_rollback(True)
    assert not Collection.objects.exists()
    assert not VisualMap.objects.exists()


@pytest.mark.both  # PostgreSQL refuses texts and lengths that SQLite stores
def test_the_real_sample_loads(lab: Lab, shared_data: Path) -> None:
    file = read_lab(SourceFolder(shared_data / "arqmath-1", reads_beside=True)).collection
    loaded = load_collection(lab=lab, file=file, at=NOW)
    kinds = [loaded.posts.filter(kind=kind).count() for kind in ("question", "answer")]
    assert (kinds, posts_frame(lab).height) == ([2769, 3395], 6164)
    assert formulas_frame(lab).height == 62131
    assert formulas_frame(lab)["visual_id"].null_count() == 0
