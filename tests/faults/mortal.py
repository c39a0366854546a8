"""An app that kills the worker once in the middle of each job."""

import os
import signal
from datetime import datetime, timedelta

from django.apps import AppConfig

DIES_AT = 6
"""The statement of a job before which its first worker is killed; the first two are its claim."""


class MortalConfig(AppConfig):
    """Kills the process of a worker in the middle of each job's first attempt."""

    name = "tests.faults"
    label = "mortal"

    def ready(self) -> None:
        """Wrap what runs a job; a dead one is released after seconds."""
        from arqlab.core.models import Job
        from arqlab.jobs.services import jobs
        from collection.services.importing import import_records
        from tests.jobs.disturbing import before_each_statement

        run = jobs.run_waiting_job

        def run_and_die(*, job_id: int, at: datetime) -> bool:
            if not Job.objects.filter(pk=job_id, attempts=0).exists():
                return run(job_id=job_id, at=at)

            def die(number: int) -> None:
                if number == DIES_AT:
                    os.kill(os.getpid(), signal.SIGKILL)

            with before_each_statement(die, in_transactions=True):
                return run(job_id=job_id, at=at)

        jobs.run_waiting_job = run_and_die
        jobs.STALE_JOB, jobs.BETWEEN_BEATS = timedelta(seconds=15), 2.0
        import_records.STALE_AFTER = timedelta(seconds=10)
