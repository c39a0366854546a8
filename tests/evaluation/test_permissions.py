"""The board that a user sees, before and after its release."""

import pytest
from django.http import Http404

from evaluation.permissions import board_with_run, score_access_of, visible_board
from evaluation.services.own_means import own_means
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import (
    GOOD,
    MORE_LISTS,
    MORE_QRELS,
    NOW,
    QRELS,
    make_qrels,
    make_run,
)

ROLES = ["visitor", "outsider", "member", "other_member", "assessor", "organizer", "superuser"]
ORGANIZING = {"organizer", "superuser"}


@pytest.fixture
def qrel_set(task):
    return make_qrels(task, QRELS | MORE_QRELS)


@pytest.fixture
def run(team, task, qrel_set):
    run = make_run(team, task, GOOD | MORE_LISTS)
    score_waiting(at=NOW)
    return run


def state_for(person, task, **asked) -> str | None:
    shown = visible_board(score_access_of(person, task), **asked)
    return shown.state if shown else None


@pytest.mark.parametrize("role", ROLES)
def test_only_organizers_see_a_board_before_its_release(scene, run, role):
    assert state_for(scene.people[role], scene.task) == ("live" if role in ORGANIZING else None)


@pytest.mark.parametrize("role", ROLES)
def test_everyone_sees_the_released_board(scene, run, qrel_set, role):
    release_leaderboard(qrel_set=qrel_set, by=None, at=NOW)

    assert state_for(scene.people[role], scene.task) == "released"
    assert state_for(scene.people[role], scene.task, live=True) == (
        "live" if role in ORGANIZING else "released"
    )


@pytest.mark.parametrize(("role", "tags"), [("member", 1), ("other_member", 0)])
def test_a_team_sees_only_its_own_runs_before_the_release(scene, run, role, tags):
    scene.task.shows_own_scores = True
    scene.task.save()
    access = score_access_of(scene.people[role], scene.task)

    assert visible_board(access) is None
    assert len(own_means(access).board.rows) == tags


def test_a_user_without_a_team_sees_no_means(scene, run):
    scene.task.shows_own_scores = True

    assert own_means(score_access_of(scene.outsider, scene.task)) is None
    assert state_for(scene.outsider, scene.task) is None


@pytest.mark.parametrize("role", ["visitor", "member", "organizer"])
def test_unknown_qrels_are_404(scene, run, role):
    with pytest.raises(Http404):
        visible_board(score_access_of(scene.people[role], scene.task), qrels="v9")


def test_an_organizer_sees_the_board_of_any_qrels(scene, run):
    make_qrels(scene.task)
    score_waiting(at=NOW)

    assert (
        visible_board(score_access_of(scene.organizer, scene.task), qrels="v2").qrel_set.name
        == "v2"
    )


def test_a_run_is_found_on_the_board_that_the_user_sees(scene, run):
    assert board_with_run(score_access_of(scene.organizer, scene.task), run).state == "live"
    with pytest.raises(Http404):
        board_with_run(score_access_of(scene.other_member, scene.task), run)


@pytest.mark.parametrize(
    ("role", "sees"), [("member", True), ("other_member", False), ("organizer", True)]
)
def test_only_its_team_and_organizers_see_a_run(scene, run, role, sees):
    assert score_access_of(scene.people[role], scene.task).may_see_run(run.pk) is sees
