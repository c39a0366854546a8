"""Background tasks of rounds. Each calls one service and is safe to run twice."""

from __future__ import annotations

from django.utils import timezone

from arqlab.celery import app
from assessment.rounds.services import making


@app.task
def reveal_complete_rounds() -> None:
    """Reveal the votes of the training rounds in which all are in."""
    making.reveal_trainings(at=timezone.now())
