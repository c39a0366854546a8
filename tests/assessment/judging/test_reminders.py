"""Assessors with items left are reminded once of a judging deadline, 48 hours before."""

from datetime import UTC, datetime, timedelta

import pytest

from arqlab.core.models import Task
from arqlab.notices.models import Notice
from assessment.judging.services.reminders import remind_assessors
from assessment.judging.tasks import remind_of_deadlines
from assessment.models import Assignment, Pool, PoolItem
from tests.assessment.factories import NOW, assign, judge, make_pool
from tests.factories import AssessorFactory

DEADLINE = datetime(2026, 12, 6, 11, 59, tzinfo=UTC)


@pytest.fixture(autouse=True)
def judging(task, assessor):
    """Three items of A.1 and one of A.2, all for one assessor."""
    Task.objects.update(judging_deadline=DEADLINE)
    make_pool(task)
    assign(assessor, *task.topics.all())


def remind(hours: float) -> None:
    remind_assessors(at=DEADLINE - timedelta(hours=hours))


def judge_all(assessor) -> None:
    for item in PoolItem.objects.all():
        judge(assessor, item.instances.get(), 1)


def test_the_notice_names_the_deadline_and_what_is_left(task, assessor):
    judge(assessor, PoolItem.objects.first().instances.get(), 1)
    remind(48)

    notice = Notice.objects.get()
    assert notice.user == assessor
    assert notice.subject == "Answer retrieval: 3 items left to judge in 48 hours"
    assert "on 5 December 2026, 23:59 anywhere on earth (6 December 2026, 11:59 UTC)." in (
        notice.text
    )
    assert "You have 3 items left in 2 topics (less than an hour of work)." in notice.text
    assert notice.path == "/labs/arqmath-x/judging/"


def test_everyone_is_reminded_once_until_the_deadline_moves(assessor):
    for hours in (47, 30, 0.1):
        remind(hours)
    assert Notice.objects.count() == 1

    Task.objects.update(judging_deadline=DEADLINE + timedelta(days=7))
    remind_assessors(at=DEADLINE + timedelta(days=6))
    assert Notice.objects.filter(user=assessor).count() == 2


def test_only_assessors_with_items_left_are_reminded(lab, task, assessor):
    other = AssessorFactory(lab=lab).user
    judge_all(assessor)
    make_pool(task, {"A.2": ["77"]})
    assign(other, task.topics.get(query_id="A.2"))
    Assignment.objects.filter(assessor=assessor, topic__query_id="A.2").update(ended_at=NOW)
    remind(40)

    assert Notice.objects.get().user == other


def test_assessors_who_lost_their_role_are_not_reminded(lab, assessor):
    lab.memberships.filter(user=assessor).delete()
    remind(40)

    assert not Notice.objects.exists()


def test_a_closed_pool_leaves_nothing_to_judge():
    Pool.objects.update(closed_at=NOW)
    remind(40)

    assert not Notice.objects.exists()


@pytest.mark.parametrize("hours", [48.1, 0, -1])
def test_nobody_is_reminded_before_48_hours_or_after_the_deadline(hours):
    remind(hours)

    assert not Notice.objects.exists()


@pytest.mark.parametrize("field", ["archived_at", "lab__archived_at"])
def test_nobody_is_reminded_of_an_archive(task, field):
    record = task.lab if field.startswith("lab__") else task
    type(record).objects.filter(pk=record.pk).update(archived_at=NOW)
    remind(40)

    assert not Notice.objects.exists()


def test_the_scheduled_task_reminds(assessor):
    Task.objects.update(judging_deadline=datetime.now(UTC) + timedelta(hours=1.1))
    remind_of_deadlines()

    subject = Notice.objects.get(user=assessor).subject
    assert subject == "Answer retrieval: 4 items left to judge in 1 hour"
