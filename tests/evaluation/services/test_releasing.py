"""Released leaderboards: numbered versions with their own runs and scores."""

from datetime import timedelta

import pytest

from arqkit.leaderboard import Board
from arqkit.standings import OFFICIAL
from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent
from arqlab.labs.services.labs import change_task
from evaluation.models import Leaderboard
from evaluation.selectors.boards import live_board, released_board, released_leaderboard
from evaluation.services.releasing import hide_leaderboard, release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.factories import TaskFactory

DAY = timedelta(days=1)


@pytest.fixture
def qrel_set(task):
    return make_qrels(task)


def tags(board: Board) -> list[str]:
    return [row.run.tag for row in board.rows]


def test_later_changes_do_not_change_a_released_leaderboard(qrel_set, team, task, organizer):
    make_run(team, task, tag="first")
    release_leaderboard(qrel_set=qrel_set, by=organizer, at=NOW)
    make_run(team, task, tag="second")
    change_task(task=task, changes={}, protocol={"measures": ("P@5",)}, by=None)
    score_waiting(at=NOW)

    board = released_board(released_leaderboard(task))
    assert tags(board) == ["first"]
    assert board.measures[0].label == "nDCG'"


def test_a_run_withdrawn_after_the_release_keeps_its_standing_beside_an_erratum(
    qrel_set, team, task
):
    run = make_run(team, task)
    release_leaderboard(qrel_set=qrel_set, by=None, at=NOW)
    Run.objects.filter(pk=run.pk).update(withdrawn_at=NOW)

    [row] = released_board(released_leaderboard(task)).rows
    assert row.run.standing is OFFICIAL
    assert row.run.erratum == "Withdrawn on 21 Nov 2026 by the organizers."
    assert live_board(qrel_set).rows == ()


def test_a_release_scores_waiting_runs(qrel_set, team, task):
    make_run(team, task)

    assert release_leaderboard(qrel_set=qrel_set, by=None, at=NOW).scores


def test_nothing_is_released_without_a_scored_run(qrel_set):
    with pytest.raises(UserError, match="has been scored against"):
        release_leaderboard(qrel_set=qrel_set, by=None, at=NOW)


def test_an_unchanged_leaderboard_is_not_released_again(qrel_set, team, task):
    make_run(team, task)
    release_leaderboard(qrel_set=qrel_set, by=None, at=NOW)

    with pytest.raises(UserError, match="nothing has changed"):
        release_leaderboard(qrel_set=qrel_set, by=None, at=NOW)
    assert Leaderboard.objects.count() == 1


def test_a_new_run_is_released_as_the_next_version(qrel_set, team, task):
    make_run(team, task)
    release_leaderboard(qrel_set=qrel_set, by=None, at=NOW)
    make_run(team, task)

    assert release_leaderboard(qrel_set=qrel_set, by=None, at=NOW).version == 2
    assert released_leaderboard(task).version == 2
    make_run(team, task)
    assert release_leaderboard(qrel_set=qrel_set, by=None, at=NOW).version == 3


def test_all_versions_are_hidden_and_the_leaderboard_can_be_released_again(
    qrel_set, team, task, organizer
):
    make_run(team, task)
    release_leaderboard(qrel_set=qrel_set, by=organizer, at=NOW)
    hide_leaderboard(task=task, by=organizer, at=NOW)

    assert released_leaderboard(task) is None
    assert release_leaderboard(qrel_set=qrel_set, by=organizer, at=NOW).version == 2
    verbs = AuditEvent.objects.filter(verb__startswith="leaderboard").values_list("verb", flat=True)
    assert list(verbs) == ["leaderboard.release", "leaderboard.hide", "leaderboard.release"]


def test_hiding_leaves_other_tasks_and_when_earlier_versions_were_hidden(qrel_set, team, task):
    other = TaskFactory(lab=task.lab)
    for qrels in (qrel_set, make_qrels(other)):
        make_run(team, qrels.task)
        release_leaderboard(qrel_set=qrels, by=None, at=NOW)
    hide_leaderboard(task=task, by=None, at=NOW)
    release_leaderboard(qrel_set=qrel_set, by=None, at=NOW)
    hide_leaderboard(task=task, by=None, at=NOW + DAY)

    assert released_leaderboard(other).version == 1
    assert [board.hidden_at for board in task.leaderboards.order_by("version")] == [NOW, NOW + DAY]


def test_there_is_nothing_to_hide_before_a_release(task):
    with pytest.raises(UserError, match="is not released"):
        hide_leaderboard(task=task, by=None, at=NOW)


@pytest.mark.parametrize(
    ("before", "after"), [("at-release", "open"), ("open", "open"), ("closed", "closed")]
)
def test_a_release_opens_the_threads_that_wait_for_it_and_no_others(
    qrel_set, team, task, before, after
):
    other = TaskFactory(lab=task.lab, threads="at-release")
    change_task(task=task, changes={"threads": before}, protocol={}, by=None)
    make_run(team, task)
    release_leaderboard(qrel_set=qrel_set, by=None, at=NOW)

    for one in (task, other):
        one.refresh_from_db()
    assert (task.threads, other.threads) == (after, "at-release")
    event = AuditEvent.objects.get(verb="leaderboard.release")
    assert event.detail["opens_threads"] == (before == "at-release")
