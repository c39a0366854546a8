"""What judgments tell about formulas, and which of them a version of the visual ids touches."""

from pathlib import Path

import pytest

from assessment.qrels.selectors.rejudging import affected_judgments, judged_formulas
from collection.models import VisualMap
from tests.collection.factories import load_small
from tests.evaluation.factories import make_qrels
from tests.factories import FormulaTaskFactory, LabFactory

pytestmark = pytest.mark.django_db
ROWS = {"7": ("1", "70", "x"), "8": ("10", "70", "x"), "9": ("12", "80", "y")}


@pytest.fixture
def formulas(lab):
    return FormulaTaskFactory(lab=lab, slug="task2")


def index(**given: str) -> str:
    """Return the index of three formulas, with other visual ids for some."""
    lines = ["id\tpost_id\tthread_id\ttype\tvisual_id\tformula"]
    for formula_id, (post, visual_id, latex) in ROWS.items():
        lines.append(
            f"{formula_id}\t{post}\t1\tanswer\t{given.get('f' + formula_id, visual_id)}\t{latex}"
        )
    return "\n".join(lines) + "\n"


def newest(lab, folder: Path, **given: str) -> VisualMap:
    """Load the index as it was and as it is, and give the second version of the visual ids."""
    load_small(lab, folder, formulas=index())
    return load_small(lab, folder, formulas=index(**given)).visual_maps.get(version=2)


def touched(lab, version: VisualMap) -> list[tuple]:
    columns = ("topic", "formula_id", "visual_id_before", "visual_id_after", "label", "why")
    return affected_judgments(lab, version).select(columns).rows()


def test_the_relevance_of_formulas_leaves_out_what_is_no_judgment(lab, formulas):
    make_qrels(formulas, {"B.1": {"7": 3, "8": 5}, "B.2": {"7": 1}}, items="formula-ids")
    judged = judged_formulas("small", lab)

    assert sorted(judged.relevance.rows()) == [("7", 1), ("7", 3)]


def test_the_judgments_of_all_labs_of_a_collection_count(lab, formulas, tmp_path):
    load_small(lab, tmp_path)
    make_qrels(formulas, {"B.1": {"7": 3}}, items="formula-ids")

    assert judged_formulas("small").relevance.rows() == [("7", 3)]
    assert judged_formulas("other", LabFactory()).relevance.is_empty()


def test_the_highest_judged_visual_id_is_known(lab, formulas):
    make_qrels(formulas, {"B.1": {"70": 3, "9001": 0, "name:1": 2}}, items="visual-ids")

    assert judged_formulas("small", lab).highest_id == 9001


def test_a_merge_touches_the_formula_that_moved_and_the_one_that_it_joined(lab, formulas, tmp_path):
    make_qrels(formulas, {"B.1": {"7": 3, "9": 2}}, items="formula-ids")

    assert touched(lab, newest(lab, tmp_path, f9="70")) == [
        ("B.1", "7", "70", "70", 3, "Instances of 80 were merged into it."),
        ("B.1", "9", "80", "70", 2, "It was merged into 70."),
    ]


def test_a_split_touches_both_parts(lab, formulas, tmp_path):
    make_qrels(formulas, {"B.1": {"7": 3, "8": 0, "9": 2}}, items="formula-ids")

    assert touched(lab, newest(lab, tmp_path, f8="90")) == [
        ("B.1", "7", "70", "70", 3, "Instances were split off from it to 90."),
        ("B.1", "8", "70", "90", 0, "It was split off from 70."),
    ]


def test_judgments_by_visual_id_are_affected_without_a_formula_id(lab, formulas, tmp_path):
    make_qrels(formulas, {"B.1": {"70": 3, "80": 1}}, items="visual-ids")

    assert touched(lab, newest(lab, tmp_path, f9="70")) == [
        ("B.1", None, "70", "70", 3, "Instances of 80 were merged into it."),
        ("B.1", None, "80", "70", 1, "It was merged into 70."),
    ]


def test_a_version_without_changes_touches_nothing(lab, formulas, tmp_path):
    make_qrels(formulas, {"B.1": {"7": 3}}, items="formula-ids")
    first = load_small(lab, tmp_path, formulas=index()).visual_maps.get()

    assert touched(lab, first) == []


def test_judgments_of_other_labs_are_not_listed(lab, formulas, tmp_path):
    make_qrels(formulas, {"B.1": {"9": 2}}, items="formula-ids")
    version = newest(lab, tmp_path, f9="70")

    assert touched(LabFactory(), version) == []
