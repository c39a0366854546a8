"""The worker's doors: ids in, one service called, safe to run twice."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from django.db import transaction
from django.utils import timezone

from arqlab.celery import app
from submissions.models import Run
from submissions.services import validation
from submissions.services.validation import return_stale_claims, waiting_run_ids


@app.task
def validate_run(run_id: int) -> None:
    """Check one run, if it still waits."""
    validation.validate_uploaded_run(run_id=run_id, at=timezone.now())


@app.task
def validate_waiting_runs() -> None:
    """Find what lost messages and dead workers left behind, and check it."""
    return_stale_claims(at=timezone.now())
    for run_id in waiting_run_ids():
        validate_run(run_id)


def validate_after_commit(runs: Iterable[Run]) -> None:
    """Have runs checked as soon as the database knows them."""
    for run in runs:
        transaction.on_commit(partial(validate_run.delay, run.pk))
