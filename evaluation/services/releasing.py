"""Release and hiding of leaderboards. A released leaderboard is a version that never changes."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from assessment.models import QrelSet
from evaluation.models import Leaderboard
from evaluation.selectors.boards import live_scores, released_leaderboard
from evaluation.selectors.pending_scores import measures_of
from evaluation.services.notices import notify_of_release
from evaluation.services.scoring import score_waiting


def release_leaderboard(*, qrel_set: QrelSet, by: User | None, at: datetime) -> Leaderboard:
    """Release the board of all valid runs against these qrels as the task's next version.

    Waiting runs are scored first. Threads that wait for the release open. Raise `UserError` if no
    run has scores, or if the released leaderboard is the same.
    """
    score_waiting(at=at, task=qrel_set.task)
    return _release(qrel_set, by=by, at=at)


@transaction.atomic
def _release(qrel_set: QrelSet, *, by: User | None, at: datetime) -> Leaderboard:
    task = Task.objects.select_for_update().select_related("lab").get(pk=qrel_set.task_id)
    scores = {str(run): values for run, values in live_scores(qrel_set).items() if values}
    measures = [measure.name for measure in measures_of(qrel_set)]
    if not scores:
        raise UserError(
            f"No valid run of {task} has been scored against the qrels {qrel_set.name}. Release "
            "the leaderboard after the first run is scored.",
            code="nothing-to-release",
        )
    shown = released_leaderboard(task)
    if shown and (shown.qrel_set_id, shown.measures, shown.scores) == (
        qrel_set.pk,
        measures,
        scores,
    ):
        raise UserError(
            f"Version {shown.version} of this leaderboard is already released, "
            "and nothing has changed since.",
            code="already-released",
        )
    newest = task.leaderboards.order_by("-version").first()
    board = Leaderboard.objects.create(
        task=task,
        version=newest.version + 1 if newest else 1,
        qrel_set=qrel_set,
        measures=measures,
        scores=scores,
        released_at=at,
        released_by=by,
    )
    board.runs.set([int(run) for run in scores])
    opened = Task.objects.filter(pk=task.pk, threads=Task.Threads.AT_RELEASE).update(
        threads=Task.Threads.OPEN
    )
    record_event(
        verb="leaderboard.release",
        target=task,
        lab=task.lab,
        actor=by,
        version=board.version,
        qrels=qrel_set.name,
        opens_threads=bool(opened),
    )
    notify_of_release(board)
    return board


@transaction.atomic
def hide_leaderboard(*, task: Task, by: User | None, at: datetime) -> None:
    """Hide the released leaderboard and all earlier versions.

    Raise `UserError` if no leaderboard is released.
    """
    hidden = Leaderboard.objects.filter(task=task, hidden_at=None).update(hidden_at=at)
    if not hidden:
        raise UserError(
            f"The leaderboard of {task} is not released. Reload the page.",
            code="not-released",
        )
    record_event(verb="leaderboard.hide", target=task, lab=task.lab, actor=by)
