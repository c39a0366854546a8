"""Warnings of qrels whose topics or items join nothing of their lab, and no others."""

import pytest

from arqlab.core.models import Topic
from assessment.qrels.selectors.joining import join_warnings, lab_join_warnings
from collection.models import Collection, VisualMap
from evaluation.selectors.oddities import release_oddities
from tests.collection.factories import NOW, load_small
from tests.evaluation.factories import GOOD, make_qrels, make_run
from tests.factories import FormulaTaskFactory, TaskFactory, TeamFactory

pytestmark = pytest.mark.django_db
# Ids of answers in the small collection, and ids that are in no post of it.
KNOWN, UNKNOWN = {"10": 3, "11": 0, "12": 1}, {f"x{number}": 0 for number in range(7)}


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


def formulas_of(lab):
    task = FormulaTaskFactory(lab=lab)
    Topic.objects.create(task=task, position=1, query_id="B.1")
    return task


def test_nothing_is_reported_while_there_is_nothing_to_compare_with(task):
    assert join_warnings(make_qrels(task)) == []


def test_topics_that_the_task_does_not_have_are_counted_and_named(task):
    qrels = make_qrels(task, {"A.1": {"p1": 1}, "A.8": {"p1": 1, "p2": 0}, "A.9": {"p1": 1}})

    [warning] = join_warnings(qrels)

    assert warning.startswith(
        "Qrels v1 of arqmath-x/task1: 2 of 3 topics (3 lines) are not in the task, such as A.8, "
    )
    assert "Load these topics" in warning


def test_items_that_no_run_has_are_reported_until_one_has_them(task, team):
    qrels = make_qrels(task, {"A.1": {f"x{number}": 1 for number in range(7)}})
    make_run(team, task, GOOD)

    [warning] = join_warnings(qrels)

    assert "none of the posts on its 7 lines is in the task's 1 run, such as x0, x1, " in warning
    assert "x4 and 2 more. No run gets a label." in warning
    assert "(items in lab.toml)" in warning
    make_run(team, task, {"A.1": ["x6"]})
    assert join_warnings(qrels) == []


def test_an_item_joins_a_run_in_its_own_topic_only(task, team):
    make_run(team, task, {"A.2": ["x1"]})

    assert join_warnings(make_qrels(task, {"A.1": {"x1": 1}}))


def test_a_run_with_another_kind_of_items_is_not_compared(task, team):
    make_run(team, task, GOOD, items="documents")

    assert join_warnings(make_qrels(task, {"A.1": {"x1": 1}})) == []


def test_the_items_of_withdrawn_runs_join(task, team):
    make_run(team, task, {"A.1": ["x1"]}, withdrawn_at=NOW)
    make_run(team, task, GOOD)

    assert join_warnings(make_qrels(task, {"A.1": {"x1": 1}})) == []


@pytest.mark.parametrize(
    ("complete", "items", "found"),
    [
        (True, KNOWN, None),
        (True, KNOWN | UNKNOWN, "the posts on 7 of its 10 lines are not in the collection"),
        (True, UNKNOWN, "none of the posts on its 7 lines is in the collection, such as"),
        (False, KNOWN | UNKNOWN, None),
        (False, UNKNOWN, "none of the posts on its 7 lines is in the collection, such as"),
    ],
)
def test_a_complete_collection_must_have_most_items_and_a_sample_one(
    task, tmp_path, complete, items, found
):
    load_small(task.lab, tmp_path, complete=complete)

    warnings = join_warnings(make_qrels(task, {"A.1": items}))

    assert len(warnings) == bool(found)
    assert not found or found in warnings[0]


def test_items_are_looked_for_in_the_collection_and_in_runs(task, team, tmp_path):
    load_small(task.lab, tmp_path)
    qrels = make_qrels(task, {"A.1": KNOWN | UNKNOWN})
    make_run(team, task, {"A.1": ["x0"]})

    [warning] = join_warnings(qrels)

    assert "6 of its 10 lines are neither in the collection nor in the task's 1 run" in warning
    make_run(team, task, {"A.1": list(UNKNOWN)})
    assert join_warnings(qrels) == []


@pytest.mark.parametrize(
    ("items", "known"), [("formula-ids", "8"), ("visual-ids", "70"), ("posts", "12")]
)
def test_each_kind_of_item_has_ids_of_its_own(lab, tmp_path, items, known):
    task = formulas_of(lab)
    load_small(lab, tmp_path, complete=False)

    assert join_warnings(make_qrels(task, {"B.1": {known: 1, "x1": 1}}, items=items)) == []
    assert join_warnings(make_qrels(task, {"B.1": {"x1": 1}}, items=items))


def test_before_the_first_version_visual_ids_are_those_of_the_formula_index(lab, tmp_path):
    task = formulas_of(lab)
    load_small(lab, tmp_path)
    VisualMap.objects.all().delete()

    assert join_warnings(make_qrels(task, {"B.1": {"70": 1}}, items="visual-ids")) == []
    [warning] = join_warnings(make_qrels(task, {"B.1": {"71": 1}}, items="visual-ids"))
    assert "visual ids on its 1 line is in the collection, such as 71." in warning


def test_a_collection_without_formulas_is_not_compared_with_formulas(lab, tmp_path):
    load_small(lab, tmp_path, formulas=None)

    assert join_warnings(make_qrels(formulas_of(lab), {"B.1": {"9": 1}}, items="formula-ids")) == []


def test_a_replaced_collection_is_compared_again(task, tmp_path):
    load_small(task.lab, tmp_path)
    qrels = make_qrels(task, {"A.1": UNKNOWN})
    assert join_warnings(qrels)

    Collection.objects.update(posts_index="")

    assert join_warnings(qrels) == []


def test_a_lab_has_the_warnings_of_all_its_versions(task):
    other = TaskFactory(lab=task.lab)
    for each in (task, task, other):
        make_qrels(each, {"A.9": {"p1": 1}})
    make_qrels(TaskFactory(), {"A.9": {"p1": 1}})

    assert len(lab_join_warnings(task.lab)) == 3


def test_a_release_lists_qrels_that_join_nothing(task, team):
    make_run(TeamFactory(lab=task.lab), task, GOOD)
    qrels = make_qrels(task, {"A.1": {"x1": 1}})

    [check] = [check for check in release_oddities(qrels, at=NOW) if "/qrels/1/" in check.url]

    assert check.sentence == "Topics or items of the qrels v1 join nothing of the lab."
    assert (check.count, check.is_red) == (1, True)
