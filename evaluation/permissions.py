"""Permissions to see scores: nothing, rounded means of one's own runs, or everything.

Scores reveal labels: the values of a few runs by topic tell every label in them. Before a release
only organizers therefore see boards, and `visible_board` and `board_with_run`, which all pages and
files of scores ask, know no others. A team may see its `own_means` (`evaluation.services`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from arqkit.leaderboard import Board, BoardRun
from arqkit.measures.names import Measure
from arqkit.standings import PublishedRuns
from arqlab.core.models import Task, Visitor
from arqlab.labs.permissions import may_organize, task_or_404
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_named
from evaluation.models import Leaderboard
from evaluation.selectors.boards import (
    live_board,
    released_board,
    released_leaderboard,
    with_post_hoc,
)
from evaluation.selectors.records import recorded_qrels
from submissions.models import Run, RunQuerySet

VISITOR_KINDS = ("nDCG", "AP", "P", "R", "RR", "Success", "ERR", "Bpref", "Judged")
VISITOR_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)
"""The measures that everyone may ask for who sees a board, and their cutoffs: few enough that their
values are soon in the cache."""


def may_ask_for(user: Visitor, measure: Measure, qrel_set: QrelSet) -> bool:
    """Return whether a user may have a measure computed that the task does not have.

    Who is signed in may ask for any, others for those of a list.
    """
    is_listed = (
        measure.kind in VISITOR_KINDS
        and measure.cutoff in (None, *VISITOR_CUTOFFS)
        and measure.rel in (None, qrel_set.relevant_from)
        and not measure.options
    )
    return is_listed or user.is_authenticated


@dataclass(frozen=True, eq=False)
class ScoreAccess:
    """The scores of a task that a user may see.

    `leaderboard` is the released one; `own_teams` are the user's teams in the lab, names by key.
    """

    user: Visitor
    task: Task
    leaderboard: Leaderboard | None
    own_teams: Mapping[int, str]
    organizes: bool

    @property
    def sees_everything(self) -> bool:
        """Return whether the user sees a board: organizers always, others after a release."""
        return self.organizes or self.leaderboard is not None

    @property
    def sees_means(self) -> bool:
        """Return whether the user has a team, and the task shows teams their own means."""
        return self.task.shows_own_scores and bool(self.own_teams) and not self.organizes

    @property
    def post_hoc_runs(self) -> RunQuerySet:
        """Return the valid post-hoc runs whose scores by topic the user may see.

        Organizers see those of all teams. A team sees its own with the release.
        """
        runs = Run.objects.scorable().filter(task=self.task, is_post_hoc=True)
        if self.organizes:
            return runs
        return runs.filter(team__in=list(self.own_teams)) if self.leaderboard else runs.none()

    @cached_property
    def own_runs(self) -> frozenset[int]:
        """Return the runs (keys) of the task that belong to the user's teams now."""
        runs = Run.objects.filter(task=self.task, team__in=list(self.own_teams))
        return frozenset(runs.values_list("pk", flat=True) if self.own_teams else ())

    def may_see_run(self, key: int) -> bool:
        """Return whether the user may see a run of the task, not only its scores.

        A board may name a team that the run does not belong to any more.
        """
        return self.organizes or key in self.own_runs

    def may_open(self, run: BoardRun) -> bool:
        """Return whether the user may open what a run on a board that they see retrieved.

        These are its rankings with the labels and its lines of the certificate. Organizers may open
        all runs, others those of their teams and, after the release, those that the task publishes.
        """
        if self.may_see_run(run.key):
            return True
        is_released = self.leaderboard is not None and str(run.key) in self.leaderboard.scores
        published = PublishedRuns(self.task.published_runs)
        return is_released and published.publishes(run.standing, is_primary=run.is_primary)

    def may_open_certificate(self, qrel_set: QrelSet) -> bool:
        """Return whether the user may open the certificate of qrels, with the runs of `may_open`.

        Everyone may if it is that of the released leaderboard, and the task publishes runs.
        """
        is_released = self.leaderboard is not None and self.leaderboard.qrel_set == qrel_set
        is_published = self.task.published_runs != PublishedRuns.NONE.value
        return self.organizes or (is_released and is_published)


@dataclass(frozen=True, eq=False)
class VisibleBoard:
    """A board that a user may see, with its qrels.

    Whoever sees it may see the labels of the qrels. `state` is `released`, `live` (for organizers)
    or `version` (as it was released, without any scores by topic).
    """

    state: str
    qrel_set: QrelSet
    board: Board


def score_access_of(user: Visitor, task: Task) -> ScoreAccess:
    """Return which scores of a task a user may see."""
    organizes = may_organize(user, task.lab)
    teams = task.lab.teams.filter(memberships__user=user.pk) if user.is_authenticated else ()
    team_names = {team.pk: team.name for team in teams}
    return ScoreAccess(user, task, released_leaderboard(task), team_names, organizes)


def visible_board(
    access: ScoreAccess, *, qrels: str = "", live: bool = False
) -> VisibleBoard | None:
    """Return the board that a user sees of a task, or None if they may not see any.

    Everyone sees the released board. Organizers see the live board before the release, with `live`,
    or if they name qrels. Raise `Http404` for qrels that do not exist or that the user may not see.
    """
    visible = next(_boards(access, qrels=qrels, live=live), None)
    if visible is None and qrels:
        raise Http404
    return visible


def released_versions(access: ScoreAccess) -> QuerySet[Leaderboard]:
    """Return the released versions of the leaderboard that are not hidden, the newest first.

    Whoever may see the task may open them.
    """
    return access.task.leaderboards.filter(hidden_at=None).select_related("qrel_set")


def all_runs_of(access: ScoreAccess, visible: VisibleBoard) -> VisibleBoard:
    """Return a board with the post-hoc runs that the user may see."""
    board = with_post_hoc(visible.board, visible.qrel_set, access.post_hoc_runs)
    return replace(visible, board=board)


def run_of_task_or_404(user: Visitor, lab_slug: str, task_slug: str, run_id: int) -> Run:
    """Return a run of a task that the user may see, or raise `Http404`.

    Which of its scores they may see is for `board_with_run` to say.
    """
    task = task_or_404(user, lab_slug, task_slug)
    return get_object_or_404(Run.objects.select_related("team", "task__lab"), task=task, pk=run_id)


def board_with_run(access: ScoreAccess, run: Run, *, qrels: str = "") -> VisibleBoard:
    """Return the first board with the run that the user may see, or raise `Http404`."""
    for official in _boards(access, qrels=qrels):
        visible = all_runs_of(access, official) if run.is_post_hoc else official
        if run.pk in {row.run.key for row in visible.board.rows}:
            return visible
    raise Http404


def may_see_scores(access: ScoreAccess, run: Run) -> bool:
    """Return whether the user may see a board with the run, without building the board."""
    if access.leaderboard and access.leaderboard.runs.filter(pk=run.pk).exists():
        return True
    if not access.organizes and not run.is_post_hoc:
        return False
    runs = access.post_hoc_runs if run.is_post_hoc else Run.objects.valid()
    return runs.filter(pk=run.pk, scorings__qrel_set__is_current=True).exists()


def _boards(access: ScoreAccess, *, qrels: str, live: bool = False) -> Iterator[VisibleBoard]:
    """Yield the boards that a user may see, the preferred one first."""
    if not access.sees_everything:
        return
    released = access.leaderboard
    if (
        released
        and qrels in ("", released.qrel_set.name)
        and not (access.organizes and (live or qrels))
    ):
        yield VisibleBoard("released", recorded_qrels(released), released_board(released))
    if access.organizes and (qrel_set := qrels_named(access.task, qrels)):
        yield VisibleBoard("live", qrel_set, live_board(qrel_set))
