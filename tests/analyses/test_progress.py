"""Progress tests: teams link the runs of one system; leaderboards show its scores in each lab."""

import pytest
from django.urls import reverse
from django.utils import timezone

from analyses.services.progress import system_progress
from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent
from evaluation.permissions import score_access_of, visible_board
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.permissions import linkable_runs
from submissions.services.changing import link_runs
from tests.evaluation.factories import GOOD, NOW, POOR, make_qrels, make_run
from tests.factories import LabFactory, MemberFactory, OrganizerFactory, TaskFactory, TeamFactory


@pytest.fixture
def earlier(scene):
    """A task of an earlier lab with a run of the same team's person, and a post-hoc run."""
    lab = LabFactory(slug="earlier", is_public=True)
    task = TaskFactory(lab=lab, slug="task1", name="Task 1")
    team = TeamFactory(lab=lab, name=scene.team.name)
    MemberFactory(team=team, user=scene.member)
    make_qrels(task)
    make_run(team, task, POOR, tag="old")
    make_run(team, task, GOOD, tag="afterwards", is_post_hoc=True)
    return task


@pytest.fixture
def now(scene):
    make_qrels(scene.task)
    return make_run(scene.team, scene.task, GOOD, tag="new")


def run_of(task, tag):
    return Run.objects.get(task=task, tag=tag)


def link(scene, run, *others, trained=()):
    links = {run.pk: False} | {one.pk: one.tag in trained for one in others}
    link_runs(run=run, links=links, by=scene.member, at=NOW)


def shown_to(person, task):
    shown = visible_board(score_access_of(person, task))
    found = system_progress(person, task, shown)
    return {
        row.run.tag: [cell.run.tag if cell.run else None for cell in row.cells]
        for row in found.rows
    }


def release(*tasks):
    score_waiting(at=NOW)
    for task in tasks:
        release_leaderboard(qrel_set=task.qrel_sets.get(), by=None, at=timezone.now())


def test_linked_runs_are_one_system_until_they_are_left_out(scene, now, earlier):
    old, afterwards = run_of(earlier, "old"), run_of(earlier, "afterwards")
    link(scene, now, old, trained=["old"])
    assert Run.objects.exclude(system=None).values("system").distinct().count() == 1
    assert run_of(earlier, "old").is_trained
    assert AuditEvent.objects.filter(verb="run.link").count() == 1

    link(scene, run_of(scene.task, "new"), afterwards)
    assert {run.tag for run in Run.objects.exclude(system=None)} == {"new", "afterwards"}
    assert not run_of(earlier, "old").is_trained

    link(scene, run_of(scene.task, "new"))
    assert not Run.objects.exclude(system=None).exists()


def test_only_runs_of_own_teams_in_other_tasks_can_be_linked(scene, now, earlier):
    theirs = make_run(TeamFactory(lab=earlier.lab), earlier, tag="theirs")
    beside = make_run(scene.team, scene.task, POOR, tag="beside")
    for other in (theirs, beside):
        with pytest.raises(UserError, match="cannot be linked"):
            link(scene, now, other)
    with pytest.raises(UserError, match="one run per task"):
        link(scene, now, run_of(earlier, "old"), run_of(earlier, "afterwards"))
    with pytest.raises(UserError, match="not a member"):
        link_runs(run=theirs, links={theirs.pk: True}, by=scene.member, at=NOW)


def test_an_organizer_of_both_labs_can_link_runs_of_teams_with_the_same_name(scene, now, earlier):
    assert not linkable_runs(scene.organizer, now).exists()
    OrganizerFactory(lab=earlier.lab, user=scene.organizer)
    make_run(TeamFactory(lab=earlier.lab), earlier, tag="theirs")
    assert {run.tag for run in linkable_runs(scene.organizer, now)} == {"old", "afterwards"}


def test_a_leaderboard_shows_a_system_on_the_topics_of_each_lab(scene, now, earlier, client_of):
    link(scene, now, run_of(earlier, "old"), trained=["old"])
    release(scene.task, earlier)
    address = reverse("analyses:progress", args=[scene.lab.slug, scene.task.slug])
    page = client_of(scene.outsider).get(address)
    board = visible_board(score_access_of(scene.outsider, earlier)).board
    values = [f"{cell.value:.4f}" for cell in board.rows[0].cells[:3]]
    for value in values:
        assert f'{value}<abbr title="Trained on these topics">†</abbr>' in page.content.decode()
    lines = client_of(scene.outsider).get(address, {"format": "tsv"}).content.decode().splitlines()
    assert len(lines) == 1 + 2 * 3
    leaderboard = reverse("evaluation:leaderboard", args=[scene.lab.slug, scene.task.slug])
    assert address in client_of(scene.outsider).get(leaderboard).content.decode()


@pytest.mark.parametrize("tag", ["old", "afterwards"])
def test_scores_of_a_lab_without_a_released_board_are_not_shown(scene, now, earlier, tag):
    link(scene, now, run_of(earlier, tag))
    release(scene.task)
    assert shown_to(scene.outsider, scene.task) == {}
    assert shown_to(scene.other_member, scene.task) == {}
    assert shown_to(scene.organizer, scene.task) == {}  # of the other lab only

    release(earlier)
    assert shown_to(scene.outsider, scene.task) == {"new": [tag, "new"]}


def test_a_lab_that_the_user_may_not_see_is_not_shown(scene, now, earlier):
    link(scene, now, run_of(earlier, "old"))
    release(scene.task, earlier)
    earlier.lab.is_public = False
    earlier.lab.save()
    assert shown_to(scene.outsider, scene.task) == {}
    assert shown_to(scene.member, scene.task) == {"new": ["old", "new"]}


def test_a_run_without_links_and_an_unlinked_post_hoc_run_are_not_shown(scene, now, earlier):
    make_run(scene.team, scene.task, POOR, tag="single")
    link(scene, now, run_of(earlier, "old"))
    release(scene.task, earlier)
    assert shown_to(scene.outsider, scene.task) == {"new": ["old", "new"]}


def test_a_team_links_runs_on_the_page_of_a_run(scene, now, earlier, client_of):
    old, browser = run_of(earlier, "old"), client_of(scene.member)
    where = [scene.lab.slug, scene.task.slug, now.pk]
    address = reverse("submissions:run-system", args=where)
    choices = {f"run-{now.pk}": "linked", f"run-{old.pk}": "trained"}
    assert browser.get(address).status_code == 200
    assert browser.post(address, choices).status_code == 302
    page = browser.get(reverse("desk:run-detail", args=where)).content.decode()
    assert "trained on these topics" in page

    both = choices | {f"run-{run_of(earlier, 'afterwards').pk}": "linked"}
    refused = browser.post(address, both)
    assert refused.status_code == 422
    assert "A system has one run per task." in refused.content.decode()
    assert browser.post(address, {f"run-{now.pk}": "linked"}).status_code == 302
    assert run_of(earlier, "old").system is None
