"""Background tasks of loads. Each calls one service and is safe to run twice."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone

from arqlab.celery import app, wake_after_commit
from desk.models import Load
from desk.services import loads, sweeping

LONGEST_LOAD = 24 * 3600
"""Seconds: a collection with millions of posts takes hours."""
QUICK = (Load.Kind.TOPICS, Load.Kind.QRELS, Load.Kind.JUDGMENTS)


@app.task(time_limit=LONGEST_LOAD)
def run_load(load_id: int) -> None:
    """Run a load if it still waits."""
    loads.run_waiting_load(load_id=load_id, at=timezone.now())


@app.task
def sweep_unused_files() -> None:
    """Put files that no row refers to aside, and delete those put aside long ago."""
    sweeping.sweep_files(at=timezone.now())


@app.task(time_limit=LONGEST_LOAD)
def run_waiting_loads() -> None:
    """Run the loads that lost messages and dead workers left behind."""
    loads.release_dead_loads(at=timezone.now())
    for load_id in loads.waiting_load_ids():
        run_load(load_id)


def run_after_commit(load: Load) -> None:
    """Queue a load for after the commit, when workers can see it.

    In embedded mode, a message is run at once by the process that sends it. Loads that take long
    are left to the schedule there, so that the page need not wait.
    """
    if load.kind in QUICK or not settings.EMBEDDED:
        wake_after_commit(run_load, load.pk)
