"""`manage.py choose_qrels LAB/TASK NAME`: make a version of the qrels the current one."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from arqlab.core.management.labcommand import LabCommand
from arqlab.core.selectors import person_named, task_named
from assessment.qrels.selectors.versions import required_qrels
from assessment.qrels.services.versions import choose_current_qrels


class Command(LabCommand):
    """Make a version current. Leaderboards use it unless another version is named."""

    help = "Make a version of the qrels the current one, which leaderboards use by default."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the task, the name of the version and the organizer."""
        parser.add_argument("task", metavar="LAB/TASK")
        parser.add_argument("name", metavar="NAME", help="name of the version")
        parser.add_argument(
            "--by", metavar="PERSON", help="email address or user name for the audit log"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the version current."""
        task = task_named(options["task"])
        by = person_named(options["by"]) if options["by"] else None
        chosen = required_qrels(task, options["name"])
        choose_current_qrels(qrel_set=chosen, by=by)
        self.stdout.write(f"{chosen.name} is the current version of the qrels of {task}.")
