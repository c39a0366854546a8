"""The work that waits for workers, of all apps: `manage.py doctor` and the metrics read it."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Min, QuerySet

from arqlab.core.models import Job
from arqlab.notices.models import Mail
from submissions.models import Run


class Queue(NamedTuple):
    """What waits or is in progress, and for how many seconds its oldest has not moved."""

    waiting: int
    age: float


def work_queues(*, at: datetime) -> dict[str, Queue]:
    """Return each queue by the name of what is in it."""
    runs = Run.objects.filter(status__in=[Run.Status.UPLOADED, Run.Status.VALIDATING])
    jobs = Job.objects.filter(state__in=[Job.State.WAITING, Job.State.RUNNING])
    mails = Mail.objects.filter(state__in=[Mail.State.QUEUED, Mail.State.SENDING])
    return {
        "runs": _queue(runs, "status_changed_at", at),
        "jobs": _queue(jobs, "updated_at", at),
        "mails": _queue(mails, "due_at", at),
    }


def _queue(rows: QuerySet[Run] | QuerySet[Job] | QuerySet[Mail], moved: str, at: datetime) -> Queue:
    figures = rows.aggregate(count=Count("pk"), oldest=Min(moved))
    age = (at - figures["oldest"]).total_seconds() if figures["oldest"] else 0.0
    return Queue(figures["count"], max(0.0, age))
