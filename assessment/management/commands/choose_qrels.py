"""`manage.py choose_qrels LAB/TASK NAME`: make a version of the qrels the current one."""

from typing import TypedDict, Unpack

from arqlab.labs.management.labcommand import BY, TASK, LabCommand
from arqlab.labs.selectors import task_named
from assessment.qrels.selectors.versions import required_qrels
from assessment.qrels.services.versions import choose_current_qrels


class _Options(TypedDict):
    task: str
    name: str


class Command(LabCommand):
    """Make a version of the qrels the current one, which leaderboards use by default."""

    arguments = {
        "task": TASK,
        "name": {"metavar": "NAME", "help": "name of the version"},
        "--by": BY,
    }

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Make the version current."""
        task = task_named(options["task"])
        by = self.actor(options)
        qrel_set = required_qrels(task, options["name"])
        choose_current_qrels(qrel_set=qrel_set, by=by)
        self.stdout.write(f"{qrel_set.name} is the current version of the qrels of {task}.")
