"""`manage.py check_again LAB/TASK`: check the runs of a task that have errors again."""

from typing import TypedDict, Unpack

from django.utils import timezone

from arqlab.core.errors import UserError
from arqlab.labs.management.labcommand import BY, TASK, LabCommand
from arqlab.labs.selectors import task_named
from submissions.models import Run
from submissions.services.renewal import check_again
from submissions.services.validation import validate_uploaded_run


class _Options(TypedDict):
    task: str


class Command(LabCommand):
    """Check the runs of a task that have errors again, by the rules of today, and list the outcome.

    The server does so by itself when topics, rules or the collection change.
    """

    arguments = {"task": TASK, "--by": BY}

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Check the runs one after the other."""
        task, by, at = task_named(options["task"]), self.actor(options), timezone.now()
        refused = Run.objects.filter(task=task, status=Run.Status.INVALID, withdrawn_at=None)
        for run in refused.select_related("team", "task__lab").order_by("pk"):
            try:
                check_again(run=run, by=by, at=at)
            except UserError as error:
                self.stdout.write(f"{run}: not checked again. {error}")
                continue
            validate_uploaded_run(run_id=run.pk, at=at)
            run.refresh_from_db(fields=["status"])
            self.stdout.write(f"{run}: {run.get_status_display().lower()}.")
