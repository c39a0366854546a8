"""Scoring in the background. The beat asks for it; a lost message loses nothing."""

from __future__ import annotations

from django.utils import timezone

from arqlab.celery import app
from evaluation.services.scoring import score_waiting


@app.task
def score_unscored_runs() -> None:
    """Score every valid run that lacks scores against qrels of its task."""
    score_waiting(at=timezone.now())
