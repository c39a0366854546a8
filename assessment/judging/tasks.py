"""Background tasks of judging. Each calls one service and is safe to run twice."""

from django.utils import timezone

from arqlab.celery import scheduled
from assessment.judging.services import reminders


@scheduled(every=300)
def remind_of_deadlines() -> None:
    """Remind the assessors with items left of judging deadlines within 48 hours."""
    reminders.remind_assessors(at=timezone.now())
