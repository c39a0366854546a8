"""Background tasks of jobs. Each calls one service and is safe to run twice."""

from django.utils import timezone

from arqlab.celery import app, runs_at_once, wake_after_commit
from arqlab.core.models import Job
from arqlab.core.services import jobs
from arqlab.core.services.computing import KIND, compute_page
from arqlab.core.services.health import record_heartbeat
from arqlab.web.jobs import JOB_KINDS, declare_job

LONGEST_JOB = 24 * 3600
"""Seconds: a collection with millions of posts takes hours."""

declare_job(KIND, "Page", compute_page, is_quick=True, in_archive=True, for_visitors=True)


@app.task(time_limit=LONGEST_JOB)
def run_job(job_id: int) -> None:
    """Run a job if it still waits."""
    jobs.run_waiting_job(job_id=job_id, at=timezone.now())


@app.task(time_limit=LONGEST_JOB)
def run_waiting_jobs() -> None:
    """Run the jobs that take long, and those that lost messages and dead workers left behind."""
    jobs.release_dead_jobs(at=timezone.now())
    while jobs.run_next_job(at=timezone.now()):
        pass


@app.task
def beat() -> None:
    """Show that scheduled tasks run."""
    record_heartbeat()


def queue_job(job: Job) -> None:
    """Queue a job for after the commit, when workers can see it.

    Quick jobs do not wait for those that take long, which have a queue of their own. A process that
    does its tasks itself leaves these to the next server.
    """
    if JOB_KINDS[job.kind].is_quick:
        wake_after_commit(run_job, job.pk)
    elif not runs_at_once():
        wake_after_commit(run_waiting_jobs)
