"""The background task that sends mail. It finds its work in the database."""

from django.utils import timezone

from arqlab.celery import scheduled
from arqlab.notices.services import mailing


@scheduled(every=5)
def send_mail(seconds: float = 10.0) -> None:
    """Send queued mail for a few seconds, so that other tasks get their turn."""
    mailing.send_queued_mail(at=timezone.now(), seconds=seconds)
