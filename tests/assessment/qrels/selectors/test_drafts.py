"""Qrels as the judgments are now."""

from dataclasses import asdict

import pytest

from arqkit.judgments.qrels import Level
from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Task
from arqlab.labs.services.labs import change_task
from assessment.models import Pool, PoolInstance
from assessment.qrels.selectors.drafts import draft_of
from collection.selectors.visual_maps import newest_map
from tests.assessment.factories import judge, make_formula_pool, make_pool, make_written_pool
from tests.collection.factories import load_small
from tests.factories import FormulaTaskFactory, LabFactory, TopicFactory, WrittenTaskFactory

pytestmark = pytest.mark.django_db
GOOD = {"A.1": {"10": 3, "11": 2, "12": 5}, "A.2": {"12": 1}}


def give(assessor, task: Task, labels) -> None:
    for topic, items in labels.items():
        for doc_id, label in items.items():
            judge(
                assessor,
                PoolInstance.objects.get(item__topic__query_id=topic, doc_id=doc_id),
                label,
            )


@pytest.fixture
def written(task, assessor) -> Task:
    """Return a Task 3 whose answers are mixed into the pool of Task 1; both have the topics A.1 and
    A.2.
    """
    own = WrittenTaskFactory(lab=task.lab, slug="task3", position=3)
    for number in (1, 2):
        TopicFactory(task=own, query_id=f"A.{number}", position=number)
    make_pool(task)
    make_written_pool(
        task, {"A.1": {"gpt:A.1": "Yes."}, "A.2": {"gpt:A.2": "No.", "ours:A.2": "Why?"}}
    )
    give(assessor, task, GOOD | {"A.1": GOOD["A.1"] | {"gpt:A.1": 0}})
    return own


def test_only_judgments_that_count_are_in_it_and_official_qrels_leave_5_and_6_out(task, assessor):
    make_pool(task)
    give(assessor, task, GOOD)
    first = PoolInstance.objects.get(item__topic__query_id="A.1", doc_id="10")
    judge(assessor, first, 0, is_current=False)

    draft = draft_of(task)

    assert draft.qrels(Level.INSTANCES, complete=False).rows() == [
        ("A.1", "10", 3),
        ("A.1", "11", 2),
    ]
    assert draft.qrels(Level.INSTANCES, complete=True).height == 3
    [dropped] = draft.dropped
    reason = "This topic has no relevant items; qrels need at least 2."
    assert (dropped.topic, dropped.relevant, dropped.reason) == ("A.2", 0, reason)


def test_the_fewest_relevant_items_of_a_topic_are_a_setting_of_the_task(task, assessor):
    make_pool(task)
    give(assessor, task, {"A.1": {"10": 3, "11": 2}, "A.2": {"12": 0}})
    change_task(task=task, changes={}, protocol={"min_relevant": 0}, by=None)
    kept = draft_of(Task.objects.get(pk=task.pk))
    change_task(task=task, changes={}, protocol={"min_relevant": 3}, by=None)

    assert (kept.dropped, kept.qrels(Level.INSTANCES, complete=False).height) == ([], 3)
    assert [one.topic for one in draft_of(Task.objects.get(pk=task.pk)).dropped] == ["A.1", "A.2"]


def test_what_is_not_judged_yet_is_counted_and_not_in_the_qrels(task, assessor):
    make_pool(task)

    draft = draft_of(task)

    assert [(one.topic, one.total, one.labelled) for one in draft.topics] == [
        ("A.1", 3, 0),
        ("A.2", 1, 0),
    ]
    assert draft.qrels(Level.INSTANCES, complete=True, with_dropped=True).is_empty()


def test_formulas_are_grouped_as_the_pool_has_them_over_its_supplements_too(lab, assessor):
    task = FormulaTaskFactory(lab=lab)
    TopicFactory(task=task, query_id="B.1")
    make_formula_pool(task, {"B.1": {"70": [("7", "1")], "71": [("8", "10")]}})
    make_formula_pool(task, {"B.1": {"70": [("9", "12")]}})
    give(assessor, task, {"B.1": {"7": 1, "8": 2, "9": 3}})

    assert draft_of(task).qrels(Level.VISUAL, complete=False).rows() == [
        ("B.1", "70", 3),
        ("B.1", "71", 2),
    ]


def test_formulas_are_those_of_the_newest_visual_ids_that_runs_are_scored_by(
    lab, assessor, tmp_path
):
    collection = load_small(lab, tmp_path)
    task = FormulaTaskFactory(lab=lab)
    TopicFactory(task=task, query_id="B.1")
    pool = make_formula_pool(
        task, {"B.1": {"70": [("7", "1")], "71": [("9", "12")], "72": [("gone", "10")]}}
    )
    give(assessor, task, {"B.1": {"7": 1, "9": 3, "gone": 2}})

    found = draft_of(task)

    assert found.qrels(Level.VISUAL, complete=False).rows() == [
        ("B.1", "70", 3),
        ("B.1", "gone", 2),
    ]
    assert found.qrels(Level.INSTANCES, complete=False).height == 3
    Pool.objects.filter(pk=pool.pk).update(
        visual_map=newest_map(collection), settings=asdict(PoolProtocol(visually_distinct=True))
    )
    assert set(draft_of(task).judged["item"]) == {
        "70",
        "71",
        "72",
    }  # nothing changed since: the pool has them


def test_the_posts_of_a_mixed_pool_are_task_1s_and_its_generated_answers_task_3s(written, task):
    assert set(draft_of(task).judged["doc_id"]) == {"10", "11", "12"}
    assert draft_of(written).qrels(Level.INSTANCES, complete=False).rows() == [
        ("A.1", "gpt:A.1", 0)
    ]


def test_task_3_leaves_out_the_topics_of_task_1_and_no_other(written):
    reason = (
        "Left out with Answer retrieval: this topic has no relevant items; qrels need at least 2."
    )

    [dropped] = draft_of(written).dropped
    assert (dropped.topic, dropped.relevant, dropped.reason) == ("A.2", 0, reason)


def test_generated_answers_of_another_lab_are_in_no_draft(written):
    elsewhere = WrittenTaskFactory(lab=LabFactory())
    TopicFactory(task=elsewhere, query_id="A.1")

    assert draft_of(written).topics
    assert draft_of(elsewhere).topics == []


def test_generated_answers_that_are_not_mixed_come_from_their_own_pool(lab, assessor):
    own = WrittenTaskFactory(lab=lab)
    TopicFactory(task=own, query_id="A.1")
    make_written_pool(own, {"A.1": {"gpt:A.1": "Yes.", "ours:A.1": "No."}})
    give(assessor, own, {"A.1": {"gpt:A.1": 2, "ours:A.1": 3}})

    assert draft_of(own).qrels(Level.INSTANCES, complete=False).height == 2


def test_a_draft_takes_six_queries_at_most(written, task, django_assert_max_num_queries):
    written = Task.objects.select_related("lab").get(pk=written.pk)
    with django_assert_max_num_queries(6):
        draft_of(written)
