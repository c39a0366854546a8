"""Permissions to see scores.

Before its release, only organizers see a leaderboard. Teams may see the scores of their own runs if
the task allows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from django.db.models import QuerySet
from django.http import Http404

from arqlab.core.models import Task, Team, Visitor
from arqlab.core.permissions import may_organize
from arqlab.core.selectors import teams_of
from arqlab.ir.leaderboard import Board
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_named
from evaluation.models import Leaderboard
from evaluation.selectors.boards import (
    live_board,
    released_board,
    released_leaderboard,
    with_post_hoc,
)
from submissions.models import Run


@dataclass(frozen=True, eq=False)
class ScoreAccess:
    """The scores of a task that a user may see.

    `leaderboard` is the released one. `own_teams` has the names of the user's teams in the lab by
    their keys. Organizers see everything.
    """

    task: Task
    leaderboard: Leaderboard | None
    own_teams: Mapping[int, str]
    organizes: bool

    @property
    def sees_own(self) -> bool:
        """Return whether the user has a team, and the task shows teams their own scores."""
        return self.task.shows_own_scores and bool(self.own_teams)

    @property
    def own_runs(self) -> QuerySet[Run]:
        """Return the valid runs of the user's teams."""
        return Run.objects.valid().filter(task=self.task, team__in=list(self.own_teams))

    @property
    def post_hoc_runs(self) -> QuerySet[Run]:
        """Return the valid post-hoc runs whose scores the user may see.

        Organizers see those of all teams. A team sees its own as soon as it sees any scores.
        """
        runs = Run.objects.scorable().filter(task=self.task, is_post_hoc=True)
        if self.organizes:
            return runs
        sees_any = self.leaderboard is not None or self.task.shows_own_scores
        return runs.filter(team__in=list(self.own_teams)) if sees_any else runs.none()

    def may_see_run_of(self, team: str) -> bool:
        """Return whether the user may see the runs of a team, not only their scores."""
        return self.organizes or team in self.own_teams.values()


@dataclass(frozen=True, eq=False)
class VisibleBoard:
    """A board that a user may see, with its qrels.

    `state` is `released`, `live` (for organizers), `own` (only the runs of the user's teams) or
    `version` (as it was released, without any scores by topic).
    """

    state: str
    qrel_set: QrelSet
    board: Board

    @property
    def shows_labels(self) -> bool:
        """Return whether the user may see the labels of the qrels: when they are released."""
        return self.state in ("released", "live")


def score_access_of(user: Visitor, task: Task) -> ScoreAccess:
    """Return which scores of a task a user may see."""
    organizes = may_organize(user, task.lab)
    teams = teams_of(user, lab_id=task.lab_id) if user.is_authenticated else Team.objects.none()
    return ScoreAccess(
        task, released_leaderboard(task), {team.pk: team.name for team in teams}, organizes
    )


def visible_board(
    access: ScoreAccess, *, qrels: str = "", live: bool = False
) -> VisibleBoard | None:
    """Return the board that a user sees of a task, or None if they may not see any.

    Everyone sees the released board. Organizers see the live board before the release, with `live`,
    or if they name qrels. Teams see their own runs if the task allows it. Raise `Http404` for qrels
    that do not exist or that the user may not see.
    """
    shown = next(_boards(access, qrels=qrels, live=live), None)
    if shown is None and qrels:
        raise Http404
    return shown


def released_versions(access: ScoreAccess) -> QuerySet[Leaderboard]:
    """Return the released versions of the leaderboard that are not hidden, the newest first.

    Whoever may see the task may open them.
    """
    return access.task.leaderboards.filter(hidden_at=None).select_related("qrel_set")


def all_runs_of(access: ScoreAccess, shown: VisibleBoard) -> VisibleBoard:
    """Return a board with the post-hoc runs that the user may see."""
    board = with_post_hoc(shown.board, shown.qrel_set, access.post_hoc_runs)
    return replace(shown, board=board)


def board_with_run(access: ScoreAccess, run: Run, *, qrels: str = "") -> VisibleBoard:
    """Return the first board with the run that the user may see, or raise `Http404`."""
    for official in _boards(access, qrels=qrels):
        shown = all_runs_of(access, official) if run.is_post_hoc else official
        if run.pk in {row.run.key for row in shown.board.rows}:
            return shown
    raise Http404


def may_see_scores(user: Visitor, run: Run) -> bool:
    """Return whether the user may see a board with the run, without building the board."""
    access = score_access_of(user, run.task)
    if access.leaderboard and access.leaderboard.runs.filter(pk=run.pk).exists():
        return True
    runs = Run.objects.valid() if access.organizes else access.own_runs
    if run.is_post_hoc:
        runs = access.post_hoc_runs
    elif not (access.organizes or access.sees_own):
        return False
    return runs.filter(pk=run.pk, scorings__qrel_set__is_current=True).exists()


def _boards(access: ScoreAccess, *, qrels: str, live: bool = False) -> Iterator[VisibleBoard]:
    """Yield the boards that a user may see, the preferred one first."""
    released = access.leaderboard
    if (
        released
        and qrels in ("", released.qrel_set.name)
        and not (access.organizes and (live or qrels))
    ):
        yield VisibleBoard("released", released.qrel_set, released_board(released))
    if access.organizes:
        if chosen := qrels_named(access.task, qrels):
            yield VisibleBoard("live", chosen, live_board(chosen))
    elif access.sees_own:
        current = qrels_named(access.task)
        if current and qrels in ("", current.name):
            yield VisibleBoard("own", current, live_board(current, access.own_runs))
