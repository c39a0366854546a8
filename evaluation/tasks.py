"""Background scoring. Celery beat repeats it, so a lost message does no harm."""

from __future__ import annotations

from django.utils import timezone

from arqlab.celery import app
from evaluation.services.scoring import score_waiting


@app.task
def score_unscored_runs() -> None:
    """Score every valid run that lacks scores."""
    score_waiting(at=timezone.now())
