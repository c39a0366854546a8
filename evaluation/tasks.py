"""Background scoring, which Celery beat repeats, so a lost message does no harm."""

from django.utils import timezone

from arqlab.celery import scheduled
from evaluation.services.errata import store_records
from evaluation.services.scoring import score_waiting


@scheduled(every=3)
def score_unscored_runs() -> None:
    """Score every valid run that lacks scores."""
    score_waiting(at=timezone.now())


@scheduled(every=15)
def store_release_records() -> None:
    """Store the records that released leaderboards lack, and their new errata."""
    store_records(at=timezone.now())
