"""Qrels whose labels are the sums of two assessors' labels (003 §4)."""

import pytest

from arqkit.judgments.qrels import Level
from arqlab.core.models import Task
from assessment.models import PoolInstance, Round
from assessment.qrels.selectors.drafts import draft_of, draft_topics, task_scale
from assessment.rounds.services.adjudication import Ruling, decide_label
from assessment.rounds.services.rounds import reveal_round
from tests.assessment.factories import NOW, judge, make_pool
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory, LabFactory, TaskFactory, TopicFactory, UserFactory

pytestmark = pytest.mark.django_db
POSTS = ["10", "11", "12", "13"]


@pytest.fixture
def task() -> Task:
    """Return a task whose topic W-1 has a pool for two assessors."""
    task = TaskFactory(
        lab=LabFactory(protocol="ntcir-12"), kind=Task.Kind.DOCUMENTS, slug="formulas"
    )
    TopicFactory(task=task, query_id="W-1")
    make_pool(task, {"W-1": POSTS})
    return task


@pytest.fixture
def first(task):
    """Return the first assessor, who judged all: R, P, N and System failure."""
    user = AssessorFactory(lab=task.lab).user
    for instance, label in zip(PoolInstance.official.order_by("pk"), (2, 1, 0, 5), strict=True):
        judge(user, instance, label)
    return user


@pytest.fixture
def second(task, first) -> Round:
    """Return the round of the second assessor, in which only the last item is not judged."""
    user = AssessorFactory(lab=task.lab).user
    made = round_of(task, "second", user)
    for doc_id, label in {"10": 2, "11": 2, "12": 6}.items():
        vote(made, user, doc_id, label)
    return made


def labels_of(task: Task, *, complete: bool = True, adds: bool = True) -> dict[str, int]:
    """Return the labels of the draft by item."""
    lines = draft_of(task, adds=adds).qrels(Level.INSTANCES, complete=complete)
    return dict(lines.select("item", "label").iter_rows())


def test_assessors_have_three_labels_and_the_qrels_five(task, first) -> None:
    assert [label.letter for label in task_scale(task).judgments] == ["R", "P", "N"]
    assert [label.value for label in draft_of(task).scale.judgments] == [4, 3, 2, 1, 0]
    assert task.protocol.relevant_in(task_scale(task)) == 2


def test_sums_need_both_labels_and_a_report_of_either_is_no_judgment(task, first, second) -> None:
    assert labels_of(task) == {}  # nobody sees the labels of an open round
    assert draft_topics(task).topics[0].labelled == 0

    reveal_round(round_=second, by=None, at=NOW)

    assert labels_of(task) == {"10": 4, "11": 3, "12": 6}
    assert labels_of(task, complete=False) == {"10": 4, "11": 3}
    assert labels_of(task, adds=False) == {"10": 2, "11": 1, "12": 0, "13": 5}
    assert draft_topics(task).topics[0].labelled == 3  # not the value kept before
    assert draft_topics(task).topics[0].relevant == 2


def test_the_last_label_of_somebody_else_is_added_and_never_ones_own(task, first, second) -> None:
    reveal_round(round_=second, by=None, at=NOW)
    again = round_of(task, "second", first, AssessorFactory(lab=task.lab).user)
    other = again.pool.items.exclude(assessor=first).first().assessor
    vote(again, first, "10", 0)
    vote(again, other, "11", 0)
    reveal_round(round_=again, by=None, at=NOW)

    assert labels_of(task, complete=False) == {"10": 4, "11": 1}


def test_the_labels_of_another_task_are_not_added(task, first, second) -> None:
    other = TaskFactory(lab=task.lab, kind=Task.Kind.DOCUMENTS)
    TopicFactory(task=other, query_id="W-1")
    make_pool(other, {"W-1": POSTS})
    user = AssessorFactory(lab=task.lab).user
    made = round_of(other, "second", user)
    vote(made, user, "10", 0)
    for opened in (second, made):
        reveal_round(round_=opened, by=None, at=NOW)

    assert labels_of(task) == {"10": 4, "11": 3, "12": 6}


def test_an_adjudicated_label_replaces_both(task, first, second) -> None:
    reveal_round(round_=second, by=None, at=NOW)
    instance = PoolInstance.official.get(doc_id="11")

    decision = {"ruling": Ruling(1, "It is a part."), "by": UserFactory(), "at": NOW}
    decide_label(task=task, instance=instance, **decision)

    assert labels_of(task, complete=False) == {"10": 4, "11": 2}


def test_a_pool_of_sums_is_judged_and_counted_as_it_was(task, first) -> None:
    pool = task.pools.get()
    pool.scale = task.protocol.labels.rows()
    pool.save()

    assert labels_of(task, complete=False) == {"10": 2, "11": 1, "12": 0}
    assert draft_of(task).relevant_from == 3
