"""`manage.py close_task LAB/TASK`: close a task for submission, or reopen it."""

from typing import TypedDict, Unpack

from django.utils import timezone

from arqlab.labs.management.labcommand import CeremonyCommand, switch
from arqlab.labs.selectors import task_named
from arqlab.labs.services.labs import close_task, reopen_task
from submissions.oddities import closing_oddities


class _Options(TypedDict):
    task: str
    reopen: bool


class Command(CeremonyCommand):
    """List what is odd about closing a task for submission, and close it before its deadline.

    With --reopen, reopen it.
    """

    arguments = {**CeremonyCommand.arguments, "--reopen": switch("reopen a closed task")}

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Close or reopen the task."""
        task, by, at = task_named(options["task"]), self.actor(options), timezone.now()
        if options["reopen"]:
            state = reopen_task(task=task, by=by).state(at)
            self.stdout.write(f"{task} is {state}{' by its deadline' * (state == 'closed')}.")
            return
        oddities = closing_oddities(task, at=at)
        self.confirm(oddities, options)
        close_task(task=task, by=by, at=at)
        self.stdout.write(f"{task} is closed.")
