"""Who may see which scores. Before its release a board is the organizers' alone; a team may see its
own runs' scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import Http404

from arqlab.core.models import Task, Team, Visitor
from arqlab.core.permissions import may_organize
from arqlab.core.selectors import teams_of
from arqlab.ir.leaderboard import Board
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_named
from evaluation.models import Leaderboard
from evaluation.selectors.boards import live_board, released_board, released_leaderboard
from submissions.models import Run


@dataclass(frozen=True, eq=False)
class Sight:
    """What a person may see of a task's scores.

    `leaderboard` is the released one, `own_teams` the person's teams in the lab, by their key. An
    organizer sees everything; `sees_own` says that a team sees its own scores, released or not.
    """

    task: Task
    leaderboard: Leaderboard | None
    own_teams: Mapping[int, str]
    organizes: bool

    @property
    def sees_own(self) -> bool:
        """Return whether the person has a team, and teams see their own scores here."""
        return self.task.shows_own_scores and bool(self.own_teams)

    @property
    def own_runs(self) -> QuerySet[Run]:
        """Return the valid runs of the person's teams."""
        return Run.objects.valid().filter(task=self.task, team__in=list(self.own_teams))

    def may_see_run_of(self, team: str) -> bool:
        """Return whether the person sees the runs of a team itself, beyond their scores."""
        return self.organizes or team in self.own_teams.values()


@dataclass(frozen=True, eq=False)
class ShownBoard:
    """A board that a person may see. `state` is `released`, `live` (the organizers' own), or `own`
    (a team's runs).
    """

    state: str
    qrel_set: QrelSet
    board: Board


def sight_of(user: Visitor, task: Task) -> Sight:
    """Find out what a person may see of a task's scores."""
    organizes = may_organize(user, task.lab)
    teams = teams_of(user, lab_id=task.lab_id) if user.is_authenticated else Team.objects.none()
    return Sight(
        task, released_leaderboard(task), {team.pk: team.name for team in teams}, organizes
    )


def board_shown(sight: Sight, *, qrels: str = "", live: bool = False) -> ShownBoard | None:
    """Return the board that a person sees of a task; None when there is none that they may see.

    Everybody sees the released one. Organizers see the live one before the release, with `live`, or
    when they name qrels; a team that may sees its own runs. Raises `Http404` for qrels that there
    are not, or that one may not see.
    """
    shown = next(_boards(sight, qrels=qrels, live=live), None)
    if shown is None and qrels:
        raise Http404
    return shown


def board_with_run(sight: Sight, run: Run, *, qrels: str = "") -> ShownBoard:
    """Return the first board that a person may see and that the run is on. Raises `Http404` when
    there is none.
    """
    for shown in _boards(sight, qrels=qrels):
        if run.pk in {row.run.key for row in shown.board.rows}:
            return shown
    raise Http404


def may_see_scores(user: Visitor, run: Run) -> bool:
    """Return whether there is a board that a person may see and that the run is on, without making
    one.
    """
    sight = sight_of(user, run.task)
    if sight.leaderboard and sight.leaderboard.runs.filter(pk=run.pk).exists():
        return True
    is_own = sight.sees_own and run.team_id in sight.own_teams
    scored = Run.objects.valid().filter(pk=run.pk, scorings__qrel_set__is_current=True)
    return (sight.organizes or is_own) and scored.exists()


def _boards(sight: Sight, *, qrels: str, live: bool = False) -> Iterator[ShownBoard]:
    """Return the boards that a person may see, the one to show first first; each is made when it is
    asked for.
    """
    released = sight.leaderboard
    if (
        released
        and qrels in ("", released.qrel_set.name)
        and not (sight.organizes and (live or qrels))
    ):
        yield ShownBoard("released", released.qrel_set, released_board(released))
    if sight.organizes:
        if chosen := qrels_named(sight.task, qrels):
            yield ShownBoard("live", chosen, live_board(chosen))
    elif sight.sees_own:
        current = qrels_named(sight.task)
        if current and qrels in ("", current.name):
            yield ShownBoard("own", current, live_board(current, sight.own_runs))
