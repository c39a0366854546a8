"""Background tasks of rounds. Each calls one service and is safe to run twice."""

from django.utils import timezone

from arqlab.celery import scheduled
from assessment.rounds.services.rounds import reveal_complete


@scheduled(every=3)
def reveal_complete_rounds() -> None:
    """Reveal the votes of the rounds whose assessors wait for them, when all are in."""
    reveal_complete(at=timezone.now())
