"""The import of a formula index, with its files in any order."""

from pathlib import Path

import polars as pl
import pytest

from arqkit.formats.dumps.records import Window
from collection.models import Collection, Import
from collection.selectors.collections import scan_columns
from collection.services import parquet_files
from collection.services.importing.formulas import import_formulas
from collection.services.importing.posts import import_posts
from tests.collection.factories import NOW

pytestmark = pytest.mark.django_db
HEADINGS = "id\tpost_id\tthread_id\ttype\tvisual_id\tformula"


def write_index(folder: Path, name: str, *rows: str) -> Path:
    path = folder / name
    path.write_text("\n".join([HEADINGS, *rows]) + "\n", encoding="utf-8")
    return path


def mathml(letter: str) -> str:
    return f"<math><mi>{letter}</mi></math>"


@pytest.fixture
def collection() -> Collection:
    return Collection.objects.create(slug="small", loaded_at=NOW)


@pytest.fixture
def latex(tmp_path: Path) -> Path:
    return write_index(
        tmp_path,
        "latex.tsv",
        "7\t1\t1\ttitle\t70\tx",
        "8\t10\t1\tanswer\t\ty",
        "9\t12\t2\tanswer\t\tz",
    )


@pytest.fixture
def slt(tmp_path: Path) -> Path:
    rows = (f"9\t12\t2\tanswer\t\t{mathml('z')}", f"7\t1\t1\ttitle\t70\t{mathml('x')}")
    return write_index(tmp_path, "slt.tsv", *rows)


def index_of(collection: Collection) -> pl.DataFrame:
    return scan_columns(collection.formulas_index).collect()


def test_layouts_are_joined_in_the_order_of_the_latex_index(collection, latex, slt):
    import_formulas(collection=collection, files={"latex": latex, "slt": slt}, at=NOW)

    assert index_of(collection).select("formula_id", "latex", "layout").rows() == [
        ("7", "x", "V!x"),
        ("8", "y", None),
        ("9", "z", "V!z"),
    ]


def test_rows_in_many_parts_find_their_layouts(collection, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_files, "ROWS", 10)
    ids = range(1, 64)
    latex = write_index(tmp_path, "latex.tsv", *(f"{one}\t1\t1\ttitle\t\tx" for one in ids))
    slt = write_index(
        tmp_path,
        "slt.tsv",
        *(f"{one}\t1\t1\ttitle\t\t{mathml(chr(64 + one))}" for one in reversed(ids)),
    )
    import_formulas(collection=collection, files={"latex": latex, "slt": slt}, at=NOW)

    found = index_of(collection)
    assert found["formula_id"].to_list() == [str(one) for one in ids]
    assert found["layout"].to_list()[:3] == ["V!A", "V!B", "V!C"]


def test_the_index_has_the_columns_of_all_editions(collection, latex):
    import_formulas(collection=collection, files={"latex": latex}, at=NOW)

    assert index_of(collection).schema == dict.fromkeys(
        (*parquet_files.INDEX_COLUMNS, "layout"), pl.String
    )


def test_instances_without_a_layout_or_a_post_are_counted(collection, latex, slt):
    collection.posts.create(post_id="1", kind="question", thread_id="1", body="")
    by_kind = {
        one.kind: one
        for one in import_formulas(
            collection=collection, files={"latex": latex, "slt": slt}, at=NOW
        )
    }

    assert by_kind["latex"].counts == {
        "instances": 3,
        "with a layout": 2,
        "without a layout": 1,
        "with a visual id given": 1,
        "whose post is not in the collection": 2,
    }
    assert by_kind["slt"].counts == {"instances": 2, "without LaTeX": 0, "with a layout": 2}


def test_bad_rows_are_reported_and_the_others_are_imported(collection, tmp_path):
    path = write_index(
        tmp_path,
        "latex.tsv",
        "7\t1\t1\ttitle\t70\tx",
        "b\t1\t1\ttitle\t\ty",
        "7\t1\t1\ttitle\t70\tx",
    )
    [record] = import_formulas(collection=collection, files={"latex": path}, at=NOW)

    assert (record.state, record.rows, record.kept, record.problem_count) == ("done", 3, 1, 2)
    assert list(record.problems.values_list("source", "line")) == [
        ("latex.tsv", 3),
        ("latex.tsv", 4),
    ]


def test_an_slt_file_imported_later_is_joined_with_the_index(collection, latex, slt):
    import_formulas(collection=collection, files={"latex": latex}, at=NOW)
    import_formulas(collection=collection, files={"slt": slt}, at=NOW)

    assert index_of(collection)["latex"].to_list() == ["x", "y", "z"]
    assert index_of(collection)["layout"].to_list() == ["V!x", None, "V!z"]


def test_another_latex_file_keeps_the_layouts(collection, tmp_path, latex, slt):
    import_formulas(collection=collection, files={"latex": latex, "slt": slt}, at=NOW)
    other = write_index(tmp_path, "other.tsv", "9\t12\t2\tanswer\t\tZ", "7\t1\t1\ttitle\t70\tX")
    import_formulas(collection=collection, files={"latex": other}, at=NOW)

    assert index_of(collection).select("latex", "layout").rows() == [("Z", "V!z"), ("X", "V!x")]


def test_an_slt_file_alone_creates_instances_without_latex(collection, slt):
    import_formulas(collection=collection, files={"slt": slt}, at=NOW)

    assert index_of(collection).select("formula_id", "latex", "layout").rows() == [
        ("9", None, "V!z"),
        ("7", None, "V!x"),
    ]


def test_an_imported_index_replaces_extracted_formulas(collection, tmp_path, slt):
    path = tmp_path / "Posts.xml"
    path.write_text(
        '<posts><row Id="1" PostTypeId="1" Title="Why $x$?" Body="" /></posts>', encoding="utf-8"
    )
    import_posts(collection=collection, path=path, window=Window(), at=NOW)
    assert index_of(collection)["formula_id"].to_list() == ["1.1"]

    import_formulas(collection=collection, files={"slt": slt}, at=NOW)
    assert index_of(collection)["formula_id"].to_list() == ["9", "7"]


def test_the_mathml_of_both_trees_is_stored(collection, latex, slt):
    import_formulas(collection=collection, files={"latex": latex, "slt": slt, "opt": slt}, at=NOW)

    for field in (collection.slt_index, collection.opt_index):
        assert scan_columns(field).collect().rows() == [("9", mathml("z")), ("7", mathml("x"))]


def test_importing_the_same_files_again_changes_nothing(collection, latex, slt):
    files = {"latex": latex, "slt": slt}
    import_formulas(collection=collection, files=files, at=NOW)
    names = (collection.formulas_index.name, collection.slt_index.name)
    import_formulas(collection=collection, files=files, at=NOW)

    assert (collection.formulas_index.name, collection.slt_index.name) == names
    assert Import.objects.count() == 2


def test_a_stopped_import_starts_again(collection, latex):
    [record] = import_formulas(collection=collection, files={"latex": latex}, at=NOW)
    Import.objects.filter(pk=record.pk).update(state="stopped", rows=2, kept=2)
    [again] = import_formulas(collection=collection, files={"latex": latex}, at=NOW)

    assert (again.pk, again.state, again.rows, again.kept) == (record.pk, "done", 3, 3)


def test_replaced_files_are_deleted_after_the_commit(
    collection, latex, slt, django_capture_on_commit_callbacks
):
    import_formulas(collection=collection, files={"latex": latex}, at=NOW)
    storage, replaced = collection.formulas_index.storage, collection.formulas_index.name
    with django_capture_on_commit_callbacks(execute=True):
        import_formulas(collection=collection, files={"latex": latex, "slt": slt}, at=NOW)
        assert storage.exists(replaced)

    assert not storage.exists(replaced)
    assert storage.exists(collection.formulas_index.name)


def test_progress_is_reported(collection, latex):
    told = []
    import_formulas(
        collection=collection,
        files={"latex": latex},
        at=NOW,
        progress=lambda done, total: told.append(done),
    )

    assert told[-1] == 3
