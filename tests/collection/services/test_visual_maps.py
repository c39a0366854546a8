"""Versions of visual ids."""

from pathlib import Path

import polars as pl
import pytest

from collection.models import Collection, VisualMap
from collection.selectors.visual_maps import JudgedFormula, map_frame, newest_map
from collection.services.importing.formulas import import_formulas
from collection.services.visual_maps import convert_latex, make_visual_map
from tests.collection.factories import NOW
from tests.collection.services.importing.test_formulas import write_index

pytestmark = pytest.mark.django_db
ROWS = ("1\t1\t1\ttitle\t70\tx", "2\t1\t1\ttitle\t\tx", "3\t1\t1\ttitle\t\ty")


@pytest.fixture
def collection() -> Collection:
    return Collection.objects.create(slug="small", loaded_at=NOW)


def take_in(collection: Collection, folder: Path, *rows: str) -> VisualMap:
    import_formulas(
        collection=collection, files={"latex": write_index(folder, "latex.tsv", *rows)}, at=NOW
    )
    return make_visual_map(collection=collection, at=NOW)


def ids(version: VisualMap) -> dict[str, str]:
    return dict(map_frame(version, "mapping").select("formula_id", "visual_id").iter_rows())


def test_given_ids_are_used_and_others_are_computed(collection, tmp_path):
    version = take_in(collection, tmp_path, *ROWS)

    assert version.version == 1
    assert ids(version) == {"1": "70", "2": "70", "3": "71"}
    assert (version.counts["instances"], version.counts["formulas"]) == (3, 2)


def test_the_same_formulas_create_no_new_version(collection, tmp_path):
    first = take_in(collection, tmp_path, *ROWS)

    assert make_visual_map(collection=collection, at=NOW) == first
    assert make_visual_map(collection=collection, at=NOW, again=True) == first
    assert VisualMap.objects.count() == 1


def test_ids_do_not_change_when_formulas_are_added(collection, tmp_path):
    before = ids(take_in(collection, tmp_path, *ROWS))
    version = take_in(collection, tmp_path, "4\t1\t1\ttitle\t\ta", *ROWS)

    assert version.version == 2
    assert {one: ids(version)[one] for one in before} == before
    assert version.counts["new instances"] == 1


def test_a_merge_is_stored_with_the_moved_instances(collection, tmp_path):
    take_in(collection, tmp_path, *ROWS)
    version = take_in(collection, tmp_path, *ROWS[:2], "3\t1\t1\ttitle\t70\ty")

    assert map_frame(version, "changes").rows() == [("merge", "3", "71", "70")]
    assert (version.counts["merges"], version.counts["splits"]) == (1, 0)


def test_differences_from_given_ids_are_stored_as_an_opinion(collection, tmp_path):
    version = take_in(collection, tmp_path, "1\t1\t1\ttitle\t70\tx", "2\t1\t1\ttitle\t71\tx")

    assert version.counts["would merge"] == 1
    assert map_frame(version, "opinion")["visual_ids"].to_list() == [["70", "71"]]
    assert ids(version) == {"1": "70", "2": "71"}


def test_converted_latex_is_used_without_mathml(collection, tmp_path):
    version = take_in(collection, tmp_path, "1\t1\t1\ttitle\t\te^x", "2\t1\t1\ttitle\t\te^{x}")

    assert len(set(ids(version).values())) == 1


def test_new_ids_are_above_every_judged_one(collection, tmp_path):
    import_formulas(
        collection=collection, files={"latex": write_index(tmp_path, "latex.tsv", *ROWS)}, at=NOW
    )
    version = make_visual_map(collection=collection, at=NOW, judged=JudgedFormula(highest_id=5000))

    assert ids(version)["3"] == "5001"


def test_an_abandoned_id_is_not_reused(collection, tmp_path):
    take_in(collection, tmp_path, *ROWS)
    take_in(collection, tmp_path, *ROWS[:2], "3\t1\t1\ttitle\t70\ty")
    version = take_in(
        collection, tmp_path, *ROWS[:2], "3\t1\t1\ttitle\t70\ty", "4\t1\t1\ttitle\t\tz"
    )

    assert ids(version)["4"] == "72"


def test_relevance_breaks_ties_between_equal_parts(collection, tmp_path):
    slt = "{}\t1\t1\ttitle\t\t<math><mi>{}</mi></math>"
    write_index(tmp_path, "one.tsv", slt.format(1, "x"), slt.format(2, "x"))
    import_formulas(collection=collection, files={"slt": tmp_path / "one.tsv"}, at=NOW)
    before = ids(make_visual_map(collection=collection, at=NOW))
    write_index(tmp_path, "two.tsv", slt.format(1, "x"), slt.format(2, "y"))
    import_formulas(collection=collection, files={"slt": tmp_path / "two.tsv"}, at=NOW)
    judged = JudgedFormula(pl.DataFrame({"formula_id": ["2"], "label": [3]}))
    after = ids(make_visual_map(collection=collection, at=NOW, judged=judged))

    assert after["2"] == before["2"]
    assert after["1"] != before["1"]


def test_without_formulas_there_is_no_version(collection):
    assert make_visual_map(collection=collection, at=NOW) is None
    assert newest_map(collection) is None


def test_changed_conversions_are_new_inputs(collection, tmp_path):
    version = take_in(collection, tmp_path, *ROWS)
    convert_latex(collection=collection)

    assert make_visual_map(collection=collection, at=NOW).inputs == version.inputs
