"""The page and the command that close a task: oddities, what teams can do then, undo."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arqlab.core.models import AuditEvent, Task
from tests.ceremonies import confirmed, seen, sentences
from tests.evaluation.factories import make_run
from tests.submissions.factories import sent

TASK = "/labs/arqmath-x/tasks/task1/"
CLOSE, REOPEN = f"{TASK}close/", f"{TASK}reopen/"


@pytest.fixture
def browser(client_of, organizer):
    return client_of(organizer)


@pytest.fixture(autouse=True)
def run(task, team):
    return make_run(team, task, tag="own", is_primary=True, sha256="a")


def state() -> str:
    return Task.objects.get(slug="task1").state(timezone.now())


def upload(client, team) -> str:
    file = sent(b"A.1\t10\t1\t2.5\tnew\n", "Alpha-task1-new-auto-both-A.tsv")
    data = {"file": file, "team": team.pk, "submit": "yes"}
    return client.post(f"{TASK}runs/upload/", data, follow=True).content.decode()


def test_the_page_lists_everything_odd(browser, task, team, other_team, run):
    assert sentences(browser.get(CLOSE)) == []
    deadline = timezone.now() + timedelta(days=3, hours=1)
    Task.objects.filter(pk=task.pk).update(deadline=deadline)
    make_run(team, task, tag="tried", check_only=True)
    make_run(team, task, tag="wrong", status="invalid")
    make_run(team, task, tag="same", sha256="a")
    make_run(other_team, task, tag="alone")
    make_run(other_team, task, tag="new", status="uploaded")

    assert sentences(browser.get(CLOSE)) == [
        f"Submission is open until {deadline.day} {deadline:%B %Y, %H:%M} UTC: 3 days left.",
        "1 valid run was not submitted: Alpha tried (checked).",
        "1 submitted run has errors: Alpha wrong.",
        "1 run is still being checked: Beta new.",
        "1 group of runs is byte-identical: Alpha own = Alpha same.",
        "1 team has valid runs but no primary run: Beta.",
    ]


def test_a_task_without_runs_is_odd(browser, run):
    run.delete()

    assert sentences(browser.get(CLOSE)) == ["No team has a valid run."]


def test_a_closed_task_takes_no_runs_and_is_reopened_with_its_deadline(
    browser, task, team, client_of, member, organizer
):
    deadline = timezone.now() + timedelta(days=3)
    Task.objects.filter(pk=task.pk).update(deadline=deadline)

    assert "The task is closed." in confirmed(browser, CLOSE).content.decode()
    assert state() == "closed"
    assert "closed by the organizers" in browser.get(TASK).content.decode()
    assert "closed on" in upload(client_of(member), team)
    assert "The task is open again." in browser.post(REOPEN, follow=True).content.decode()
    assert (state(), Task.objects.get(pk=task.pk).deadline) == ("open", deadline)
    assert "closed on" not in upload(client_of(member), team)
    events = AuditEvent.objects.filter(verb__in=["task.close", "task.reopen"], actor=organizer)
    assert events.count() == 2


def test_nothing_is_closed_by_somebody_who_has_not_seen_the_list(browser):
    answer = browser.post(CLOSE)

    assert answer.status_code == 422
    assert "This list has changed" in answer.content.decode()
    assert state() == "open"


def test_a_second_click_changes_nothing(browser):
    shown = seen(browser.get(CLOSE))
    for _ in range(2):
        answer = browser.post(CLOSE, shown, follow=True)

    assert "is already closed" in answer.content.decode()
    assert AuditEvent.objects.filter(verb="task.close").count() == 1
    assert "already closed" in browser.get(CLOSE).content.decode()


def test_a_task_that_its_deadline_closed_is_neither_closed_nor_reopened(browser, task):
    Task.objects.filter(pk=task.pk).update(deadline=timezone.now() - timedelta(days=1))

    assert "already closed" in browser.post(CLOSE, follow=True).content.decode()
    assert "set a later deadline" in browser.post(REOPEN, follow=True).content.decode()
    assert not AuditEvent.objects.filter(verb__startswith="task").exists()


def test_a_task_stays_closed_if_its_deadline_has_passed_since(browser, task):
    confirmed(browser, CLOSE)
    Task.objects.filter(pk=task.pk).update(deadline=timezone.now() - timedelta(seconds=1))

    page = browser.post(REOPEN, follow=True).content.decode()

    assert "The deadline has passed, so the task stays closed." in page
    assert state() == "closed"


def test_the_task_page_leads_to_both(browser, client_of, member):
    assert f'href="{CLOSE}"' in browser.get(TASK).content.decode()
    confirmed(browser, CLOSE)

    assert f'action="{REOPEN}"' in browser.get(TASK).content.decode()
    assert REOPEN not in client_of(member).get(TASK).content.decode()


def test_the_command_closes_and_reopens(organizer):
    out = StringIO()
    call_command("close_task", "arqmath-x/task1", by=organizer.username, stdout=out)
    assert state() == "closed"
    call_command("close_task", "arqmath-x/task1", "--reopen", stdout=out)

    assert out.getvalue() == "arqmath-x/task1 is closed.\narqmath-x/task1 is open.\n"
    assert state() == "open"
    assert AuditEvent.objects.get(verb="task.close").actor == organizer


def test_the_command_lists_what_is_odd_and_asks(task, run):
    run.delete()
    errors = StringIO()

    with pytest.raises(CommandError, match="add --yes"):
        call_command("close_task", str(task), stderr=errors)
    assert errors.getvalue() == "No team has a valid run.\n"
    assert state() == "open"
    call_command("close_task", str(task), "--yes", stdout=StringIO(), stderr=StringIO())
    assert state() == "closed"
