"""The phases of labs and the stages of tasks."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from arqlab.core.models import Lab, Task, Topic
from assessment.models import PoolItem
from evaluation.models import Leaderboard
from tests.assessment.factories import make_pool
from tests.desk.views.test_home import text_of
from tests.evaluation.factories import make_qrels

NOW = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.fixture
def close(scene):
    Task.objects.update(deadline=timezone.now() - timedelta(days=1))


@pytest.fixture
def release(scene, close):
    qrels = make_qrels(scene.task, {"A.1": {"10": 3}})
    Leaderboard.objects.create(task=scene.task, version=1, qrel_set=qrels, released_at=NOW)


def stages(client) -> dict[str, str]:
    """Return the stages of the only task on the home page, with their states."""
    page = text_of(client.get("/"))
    part = page.partition('<ol class="stages"')[2].partition("</ol>")[0]
    rows = part.split('<li class="stage-')[1:]
    names = ("Topics", "Submission", "Judging", "Qrels", "Release")
    return {next(name for name in names if name in row): row.partition('"')[0] for row in rows}


def test_an_open_task_is_at_its_submission(scene, client_of):
    assert stages(client_of(scene.organizer)) == {
        "Topics": "done",
        "Submission": "current",
        "Judging": "next",
        "Qrels": "next",
        "Release": "next",
    }


def test_a_task_without_topics_is_at_its_topics(scene, client_of):
    Topic.objects.all().delete()

    client = client_of(scene.organizer)

    assert stages(client)["Topics"] == "current"
    assert "load/topics/" in text_of(client.get("/"))


def test_a_closed_task_is_judged(scene, close, client_of):
    make_pool(scene.task)

    client = client_of(scene.organizer)

    assert stages(client)["Judging"] == "current"
    assert "chip-judging" in text_of(client.get("/"))
    assert f"0 of {PoolItem.objects.count()} items judged" in text_of(client.get("/"))


def test_the_judging_stage_has_its_deadline_for_organizers(scene, close, client_of):
    deadline = timezone.now() + timedelta(days=9)
    Task.objects.update(judging_deadline=deadline)
    there = deadline.astimezone(ZoneInfo("Etc/GMT+12"))

    page = text_of(client_of(scene.organizer).get("/"))

    assert f">until {there.day} {there:%b}</span>" in page
    assert "stage-deadline" not in text_of(client_of(scene.member).get("/"))


def test_teams_do_not_learn_of_qrels_and_progress(scene, close, client_of):
    make_pool(scene.task)
    make_qrels(scene.task, {"A.1": {"10": 3}})

    client = client_of(scene.member)

    assert stages(client) == {
        "Topics": "done",
        "Submission": "done",
        "Judging": "current",
        "Release": "next",
    }
    assert "items judged" not in text_of(client.get("/"))


def test_qrels_are_next_when_all_is_judged(scene, close, client_of):
    make_pool(scene.task)
    PoolItem.objects.update(done_at=NOW)

    assert stages(client_of(scene.organizer))["Qrels"] == "current"


def test_with_qrels_the_release_is_next(scene, close, client_of):
    make_qrels(scene.task, {"A.1": {"10": 3}})

    assert stages(client_of(scene.organizer))["Release"] == "current"


@pytest.mark.parametrize("role", ["member", "outsider", "visitor"])
def test_a_released_lab_is_marked(scene, release, client_of, role):
    assert "chip-released" in text_of(client_of(scene.people[role]).get("/"))


def matrix(client) -> dict[str, list[str]]:
    """Return the cells of the only task on the page of its lab, by stage."""
    page = client.get("/labs/arqmath-x/").context
    [(_, cells)] = page["matrix"]
    return {cell.stage: [cell.figure, cell.action] for cell in cells}


def test_the_page_of_a_lab_shows_each_stage_with_a_figure_and_an_action(scene, close, client_of):
    make_pool(scene.task)
    items = PoolItem.objects.count()

    assert matrix(client_of(scene.organizer)) == {
        "Topics": ["2", "Load topics"],
        "Runs": ["0", "View runs"],
        "Pool": [f"{items}", "Plan pool"],
        "Judging": [f"0 of {items} items judged", "Assign 2 unassigned topics"],
        "Qrels": ["0", "Freeze qrels"],
        "Board": ["Waiting", "View leaderboard"],
    }


def test_a_visitor_sees_topics_and_the_leaderboard_without_actions(scene, client):
    assert matrix(client) == {"Topics": ["2", ""], "Board": ["Waiting", ""]}


def test_the_dates_of_a_lab_are_in_order(scene, client_of):
    end = timezone.now() + timedelta(days=3)
    Task.objects.update(deadline=end, judging_deadline=end + timedelta(days=9))
    dates = client_of(scene.organizer).get("/labs/arqmath-x/").context["dates"]

    name = scene.task.name
    assert [date.events for date in dates] == [[f"{name} closes"], [f"{name} judging ends"]]
    assert [date.when for date in dates] == [end, end + timedelta(days=9)]


def test_the_steps_of_a_new_lab_begin_with_its_collection(scene, client_of):
    Lab.objects.update(is_public=False)
    page = text_of(client_of(scene.organizer).get("/labs/arqmath-x/"))

    steps = page.partition('<ul class="next-steps">')[2]
    assert steps.index("<h3>Collection</h3>") < steps.index("<h3>Draft</h3>")


def test_a_lab_without_tasks_asks_for_one(scene, client_of):
    Task.objects.all().delete()

    assert "/labs/arqmath-x/new-task/" in text_of(client_of(scene.organizer).get("/"))


def test_a_draft_asks_to_be_made_public(scene, client_of):
    Lab.objects.update(is_public=False)

    assert "Make lab public" in text_of(client_of(scene.organizer).get("/"))
