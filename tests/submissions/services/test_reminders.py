"""Teams are reminded of a deadline once: early without a primary run, all on the last day."""

from datetime import UTC, datetime, timedelta

import pytest

from arqlab.core.models import Task
from arqlab.notices.models import Notice
from submissions.models import Run
from submissions.services.reminders import remind_teams
from submissions.tasks import remind_teams_of_deadlines
from tests.factories import MemberFactory
from tests.submissions.factories import RunFactory, ValidRunFactory

DEADLINE = datetime(2026, 6, 6, 11, 59, tzinfo=UTC)


@pytest.fixture(autouse=True)
def closing(task):
    task.deadline = DEADLINE
    task.save()


def remind(hours: float) -> None:
    remind_teams(at=DEADLINE - timedelta(hours=hours))


def test_teams_without_a_primary_run_are_reminded_48_hours_before(task, team, member, other_team):
    ValidRunFactory(task=task, team=team)
    ValidRunFactory(task=task, team=other_team, is_primary=True)
    remind(48)

    notice = Notice.objects.get()
    assert notice.user == member
    assert notice.subject == "Answer retrieval: Alpha has no primary run yet"
    assert "in 48 hours, on 5 June 2026, 23:59 anywhere on earth (6 June 2026, 11:59 UTC)." in (
        notice.text
    )
    assert "Team Alpha has 1 valid run, which is not primary." in notice.text
    assert notice.path == "/labs/arqmath-x/tasks/task1/runs/"


def test_every_team_is_reminded_on_the_last_day(task, team, member, other_team, other_member):
    for primary in (False, True):
        ValidRunFactory(task=task, team=team, is_primary=primary)
    remind(24)

    texts = {notice.user: notice.text for notice in Notice.objects.all()}
    assert "Team Alpha has 2 valid runs, one of them primary." in texts[member]
    assert "Team Beta has no valid run yet." in texts[other_member]
    assert {notice.subject for notice in Notice.objects.all()} == {
        "Answer retrieval closes in 24 hours"
    }


@pytest.mark.parametrize("field", ["closed_at", "archived_at", "lab__archived_at"])
def test_nobody_is_reminded_of_a_task_that_is_over(task, member, field):
    record = task.lab if field.startswith("lab__") else task
    type(record).objects.filter(pk=record.pk).update(**{field.removeprefix("lab__"): DEADLINE})
    remind(24)

    assert not Notice.objects.exists()


def test_a_team_is_reminded_once_of_each(task, member, other_member):
    for hours in (47, 46, 25, 23, 22, 0.2):
        remind(hours)

    kinds = Notice.objects.filter(user=member).values_list("kind", flat=True)
    assert sorted(kinds) == ["deadline", "no-primary-run"]


def test_a_member_of_two_teams_is_reminded_for_each(task, member, other_team):
    MemberFactory(team=other_team, user=member)
    remind(24)

    assert Notice.objects.filter(user=member).count() == 2


def test_teams_are_reminded_of_a_moved_deadline(task, member):
    remind(24)
    Task.objects.filter(pk=task.pk).update(deadline=DEADLINE + timedelta(days=7))
    remind(0)
    assert Notice.objects.filter(user=member).count() == 1

    remind_teams(at=DEADLINE + timedelta(days=6, hours=5))
    assert Notice.objects.filter(user=member).count() == 2


@pytest.mark.parametrize("hours", [48.1, 0, -1])
def test_nobody_is_reminded_before_48_hours_or_after_the_deadline(hours):
    remind(hours)

    assert not Notice.objects.exists()


def test_nobody_is_reminded_of_a_task_that_has_not_opened(task):
    Task.objects.filter(pk=task.pk).update(opens_at=DEADLINE - timedelta(hours=1))
    remind(20)

    assert not Notice.objects.exists()


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({"status": Run.Status.UPLOADED}, True),
        ({"status": Run.Status.INVALID}, False),
        ({"status": Run.Status.UPLOADED, "withdrawn_at": DEADLINE}, False),
        ({"status": Run.Status.UPLOADED, "check_only": True}, False),
        ({"status": Run.Status.UPLOADED, "is_baseline": True}, False),
    ],
)
def test_a_primary_run_counts_unless_it_takes_no_part(task, team, member, fields, counts):
    RunFactory(task=task, team=team, is_primary=True, **fields)
    remind(40)

    assert Notice.objects.filter(user=member).exists() != counts


def test_the_scheduled_task_reminds(task, member):
    Task.objects.filter(pk=task.pk).update(deadline=datetime.now(UTC) + timedelta(hours=1.1))
    remind_teams_of_deadlines()

    assert Notice.objects.get(user=member).subject == "Answer retrieval closes in 1 hour"
