"""Background tasks of runs. They take ids, call one service, and are safe to run twice."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils import timezone

from arqlab.celery import app, wake_after_commit
from submissions.models import Run
from submissions.services import reminders, validation
from submissions.services.validation import release_stale_claims, waiting_run_ids


@app.task
def validate_run(run_id: int) -> None:
    """Validate a run if it still waits."""
    validation.validate_uploaded_run(run_id=run_id, at=timezone.now())


@app.task
def validate_waiting_runs() -> None:
    """Validate the runs that lost messages and dead workers left behind."""
    now = timezone.now()
    release_stale_claims(at=now)
    for run_id in waiting_run_ids(at=now):
        validate_run(run_id)


@app.task
def remind_teams_of_deadlines() -> None:
    """Remind the teams of tasks that close within 48 hours."""
    reminders.remind_teams(at=timezone.now())


def validate_after_commit(runs: Iterable[Run]) -> None:
    """Queue the validation of runs for after the commit, when workers can see them."""
    for run in runs:
        wake_after_commit(validate_run, run.pk)
