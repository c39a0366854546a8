"""Background tasks of runs. They call one service, and are safe to run twice."""

from collections.abc import Iterable

from django.utils import timezone

from arqlab.celery import app, scheduled, wake_after_commit
from submissions.models import Run
from submissions.services import reminders, renewal, validation

MOST_AT_ONCE = 50
"""How many runs a sweep validates; the next one follows in seconds."""


@app.task(lane="runs")
def validate_next_run() -> None:
    """Validate the run whose turn it is: not always the one whose upload sent the message."""
    validation.validate_run_in_turn(at=timezone.now())


@scheduled(every=5, lane="runs")
def validate_waiting_runs() -> None:
    """Validate the runs that lost messages and dead workers left behind."""
    validation.release_stale_claims(at=timezone.now())
    for _ in range(MOST_AT_ONCE):
        if not validation.validate_run_in_turn(at=timezone.now()):
            return


@scheduled(every=60)
def renew_verdicts() -> None:
    """Check runs again that were refused by rules which have changed since."""
    for _ in range(renewal.renew_old_verdicts(at=timezone.now())):
        wake_after_commit(validate_next_run)


@scheduled(every=300)
def remind_teams_of_deadlines() -> None:
    """Remind the teams of tasks that close within 48 hours."""
    reminders.remind_teams(at=timezone.now())


def validate_after_commit(runs: Iterable[Run]) -> None:
    """Queue the validation of runs for after the commit, when workers can see them."""
    for _ in runs:
        wake_after_commit(validate_next_run)
