"""Background scoring, which Celery beat repeats, so a lost message does no harm; and jobs."""

from django.utils import timezone

from arqlab.celery import scheduled
from arqlab.web.jobs import JobLane, declare_job
from evaluation.services.certificates import certify_released, compute_certificate
from evaluation.services.errata import store_records
from evaluation.services.look_alikes import find_look_alikes
from evaluation.services.scoring import score_waiting

for _kind, _label, _run in (
    ("certificate", "Reusability certificate", compute_certificate),
    ("look-alikes", "Look-alikes", find_look_alikes),
):
    declare_job(_kind, _label, _run, lane=JobLane.SECONDS, in_archive=True)


@scheduled(every=3)
def score_unscored_runs() -> None:
    """Score every valid run that lacks scores."""
    score_waiting(at=timezone.now())


@scheduled(every=3600, lane="jobs")
def certify_released_boards() -> None:
    """Compute the certificates of released leaderboards."""
    certify_released()


@scheduled(every=15)
def store_release_records() -> None:
    """Store the records that released leaderboards lack, and their new errata."""
    store_records(at=timezone.now())
