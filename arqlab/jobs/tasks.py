"""Background tasks of jobs. Each calls one service and is safe to run twice."""

from django.utils import timezone

from arqlab.celery import app, runs_at_once, scheduled, wake_after_commit
from arqlab.core.models import Job
from arqlab.jobs.services import jobs
from arqlab.jobs.services.computing import KIND, compute_page
from arqlab.web.jobs import JobLane, declare_job, lane_of_job

LONGEST_JOB = 24 * 3600
"""Seconds: a collection with millions of posts takes hours."""


declare_job(KIND, "Page", compute_page, lane=JobLane.SECONDS, in_archive=True, for_visitors=True)


@app.task(lane="quick-jobs", time_limit=LONGEST_JOB)
def run_job(job_id: int) -> None:
    """Run a job if it still waits."""
    jobs.run_waiting_job(job_id=job_id, at=timezone.now())


@scheduled(every=5, lane="quick-jobs", time_limit=LONGEST_JOB)
def run_quick_jobs() -> None:
    """Run the waiting jobs of seconds: they lost their message, or their worker."""
    while jobs.run_next_job(at=timezone.now(), lanes=[JobLane.SECONDS]):
        pass


@scheduled(every=5, lane="short-jobs", time_limit=LONGEST_JOB)
def run_short_jobs() -> None:
    """Run the waiting jobs of minutes."""
    while jobs.run_next_job(at=timezone.now(), lanes=[JobLane.MINUTES]):
        pass


@scheduled(every=5, lane="jobs", time_limit=LONGEST_JOB)
def run_waiting_jobs() -> None:
    """Run all waiting jobs, also those of hours."""
    while jobs.run_next_job(at=timezone.now()):
        pass


@scheduled(every=15, lane="runs")
def sweep_dead_jobs() -> None:
    """Let the jobs of dead workers wait again. It waits for no job itself."""
    jobs.release_dead_jobs(at=timezone.now())


def queue_job(job: Job) -> None:
    """Queue a job for after the commit, when workers can see it.

    Each lane has a queue of its own. A process that does its tasks itself leaves all but the jobs
    of seconds to the next server.
    """
    lane = lane_of_job(job)
    if lane is JobLane.SECONDS:
        wake_after_commit(run_job, job.pk)
    elif not runs_at_once():
        wake_after_commit(run_short_jobs if lane is JobLane.MINUTES else run_waiting_jobs)
