"""Release and hiding of leaderboards. A released leaderboard is a version that never changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from arqkit.measures.names import parse_measure
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.labs.oddities import Oddity
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from arqlab.web import counted, task_url
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_named
from evaluation.models import Leaderboard
from evaluation.selectors.boards import live_scores, released_leaderboard
from evaluation.selectors.oddities import release_oddities
from evaluation.selectors.pending_scores import measures_of
from evaluation.services.errata import record_release
from evaluation.services.scoring import score_waiting
from submissions.models import Run, RunQuerySet
from submissions.services.left_out import LeftOutRun, out_of_competition, set_out_of_competition


@dataclass(frozen=True, kw_only=True)
class ReleaseDraft:
    """What would be released with a version of the qrels, and what is odd about it.

    - runs: how many runs have scores.
    - released: the leaderboard that everyone sees now.
    - valid_runs, out_of_competition: the runs that can be left out, and why some already are.
    """

    qrel_set: QrelSet
    checks: list[Oddity]
    runs: int
    released: Leaderboard | None
    valid_runs: RunQuerySet
    out_of_competition: list[LeftOutRun]


def release_draft(task: Task, qrels: str, *, at: datetime) -> ReleaseDraft | None:
    """Return what would be released with the qrels of a name, or None if the task lacks them."""
    qrel_set = qrels_named(task, qrels)
    if qrel_set is None:
        return None
    runs = Run.objects.valid().filter(task=task)
    return ReleaseDraft(
        qrel_set=qrel_set,
        checks=release_oddities(qrel_set, at=at),
        runs=len(live_scores(qrel_set)),
        released=released_leaderboard(task),
        valid_runs=runs,
        out_of_competition=out_of_competition(runs),
    )


def notify_of_release(board: Leaderboard) -> None:
    """Notify the teams that have runs on a leaderboard of its release."""
    task = board.task
    notify(
        task,
        Kind.LEADERBOARD_RELEASED,
        User.objects.filter(memberships__team__in=board.runs.values("team")).distinct(),
        path=task_url("evaluation:leaderboard", task),
        key=f"leaderboard-released {board.pk}",
        version=str(board.version),
        runs=counted(board.runs.count(), "run"),
        measure=parse_measure(board.measures[0]).heading,
    )


def release_leaderboard(
    *,
    qrel_set: QrelSet,
    by: User | None,
    at: datetime,
    apart: Mapping[int, str] | None = None,
    reason: str = "",
) -> Leaderboard:
    """Release the board of all valid runs against these qrels as the task's next version.

    `reason` explains the version to everyone. `apart` has the reasons of the runs out of
    competition; by default, they are those that already are. Waiting runs are scored first. Threads
    that wait for the release open. Raise `UserError` if no run has scores, or if the released
    leaderboard is the same.
    """
    score_waiting(at=at, task=qrel_set.task)
    return _release(qrel_set, by=by, at=at, apart=apart, reason=reason)


@transaction.atomic
def _release(
    qrel_set: QrelSet,
    *,
    by: User | None,
    at: datetime,
    apart: Mapping[int, str] | None,
    reason: str,
) -> Leaderboard:
    # Two organizers who release at once would give two versions the same number.
    task = Task.objects.select_for_update().select_related("lab").get(pk=qrel_set.task_id)
    scores = {str(run): values for run, values in live_scores(qrel_set).items() if values}
    measures = [measure.name for measure in measures_of(qrel_set)]
    if not scores:
        raise UserError(
            f"No valid run of {task} has been scored against the qrels {qrel_set.name}. Release "
            "the leaderboard after the first run is scored.",
            code="nothing-to-release",
        )
    out = set_out_of_competition(task, apart)
    facts = {"measures": measures, "scores": scores, "out_of_competition": out}
    _refuse_unchanged(task, qrel_set, facts)
    newest = task.leaderboards.order_by("-version").first()
    board = Leaderboard.objects.create(
        task=task,
        version=newest.version + 1 if newest else 1,
        qrel_set=qrel_set,
        **facts,
        reason=reason,
        released_at=at,
        released_by=by,
    )
    board.runs.set([int(run) for run in scores])
    record_release(board, at=at)
    opened = Task.objects.filter(pk=task.pk, threads=Task.Threads.AT_RELEASE).update(
        threads=Task.Threads.OPEN
    )
    record_event(
        "leaderboard.release",
        task,
        by,
        version=board.version,
        qrels=qrel_set.name,
        opens_threads=bool(opened),
        out_of_competition=out,
    )
    notify_of_release(board)
    return board


def _refuse_unchanged(task: Task, qrel_set: QrelSet, facts: Mapping[str, object]) -> None:
    released = released_leaderboard(task)
    before = {name: getattr(released, name, None) for name in facts}
    if released and released.qrel_set_id == qrel_set.pk and facts == before:
        raise UserError(
            f"Version {released.version} of this leaderboard is already released, and nothing has "
            "changed since.",
            code="already-released",
        )


@transaction.atomic
def hide_leaderboard(*, task: Task, by: User | None, at: datetime) -> None:
    """Hide the released leaderboard and all earlier versions.

    Raise `UserError` if no leaderboard is released.
    """
    hidden = Leaderboard.objects.filter(task=task, hidden_at=None).update(hidden_at=at)
    if not hidden:
        raise UserError(
            f"The leaderboard of {task} is not released. Reload the page.", code="not-released"
        )
    record_event("leaderboard.hide", task, by)


def hide_version(*, task: Task, version: int, by: User | None, at: datetime) -> None:
    """Hide a version that a later release superseded.

    Raise `UserError` if it does not exist, is hidden, or is the released version.
    """
    released = released_leaderboard(task)
    earlier = Leaderboard.objects.filter(task=task, version=version, hidden_at=None)
    if released is None or released.version == version or not earlier.update(hidden_at=at):
        raise UserError(
            f"{task} has no earlier version {version} of its leaderboard that is shown. Reload the "
            "page.",
            code="not-superseded",
        )
    record_event("leaderboard.hide-version", task, by, version=version)
