"""Background tasks of the radar. Each calls one service and is safe to run twice."""

from django.utils import timezone

from arqlab.celery import scheduled
from contrib.radar.services import dismissing


@scheduled(every=60)
def find_duplicate_posts() -> None:
    """Find the posts with the same text in new pools and after imports."""
    dismissing.find_waiting_duplicates(at=timezone.now())
