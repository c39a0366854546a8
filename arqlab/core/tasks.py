"""Background tasks of jobs. Each calls one service and is safe to run twice."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone

from arqlab.celery import app, wake_after_commit
from arqlab.core.faults import due
from arqlab.core.models import Job
from arqlab.core.services import jobs
from arqlab.core.services.health import record_heartbeat
from arqlab.web.jobs import JOB_KINDS

LONGEST_JOB = 24 * 3600
"""Seconds: a collection with millions of posts takes hours."""


@app.task(time_limit=LONGEST_JOB)
def run_job(job_id: int) -> None:
    """Run a job if it still waits."""
    jobs.run_waiting_job(job_id=job_id, at=timezone.now())


@app.task(time_limit=LONGEST_JOB)
def run_waiting_jobs() -> None:
    """Run the jobs that lost messages and dead workers left behind."""
    now = timezone.now()
    jobs.release_dead_jobs(at=now)
    waiting = Job.objects.filter(due("updated_at", now), state=Job.State.WAITING).order_by("pk")
    for job_id in list(waiting.values_list("pk", flat=True)):
        run_job(job_id)


@app.task
def beat() -> None:
    """Show that scheduled tasks run."""
    record_heartbeat()


def queue_job(job: Job) -> None:
    """Queue a job for after the commit, when workers can see it.

    In embedded mode, jobs that take long are left to the schedule: quick ones do not wait for them.
    """
    if JOB_KINDS[job.kind].is_quick or not settings.EMBEDDED:
        wake_after_commit(run_job, job.pk)
