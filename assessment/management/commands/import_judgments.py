"""`manage.py import_judgments LAB/TASK FILE`: import labels judged outside ArqLab."""

from pathlib import Path
from typing import TypedDict, Unpack

from django.utils import timezone

from arqkit.loads import LoadChoice
from arqlab.labs.management.labcommand import BY, TASK, LoadCommand, read_bytes, switch
from arqlab.labs.selectors import task_named
from assessment.judging.services.importing import import_judgments


class _Options(TypedDict):
    task: str
    file: Path
    in_pool: bool
    take_older: bool


class Command(LoadCommand):
    """Import judgments made outside ArqLab.

    FILE is a TSV with the columns topic, item, label and optionally assessor, comment, seconds,
    judged_at, guidelines; the judgments.tsv of a task, with history; the results of a Turkle batch;
    or a qrels file. Importing a file again changes nothing. A stored label that is newer stays.
    """

    arguments = {
        **LoadCommand.arguments,
        "task": TASK,
        "file": {"metavar": "FILE", "type": Path},
        "--in-pool": switch("load only the labels of items in the pool"),
        "--take-older": switch("let older labels replace newer ones"),
        "--by": BY,
    }

    def load(self, choice: LoadChoice, *args: object, **options: Unpack[_Options]) -> None:
        """Import the file and print how many labels are new, changed and unchanged."""
        changes = import_judgments(
            task=task_named(options["task"]),
            data=read_bytes(options["file"]),
            path=str(options["file"]),
            at=timezone.now(),
            by=self.actor(options),
            choice=choice._replace(
                leaves_out=options["in_pool"], takes_older=options["take_older"]
            ),
        )
        if not changes.stores:
            self.stdout.write("Nothing to change.")
        self.stdout.write(changes.line)
