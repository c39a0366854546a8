"""`manage.py assign_topics LAB/TASK FILE`: assign topics to assessors from a file."""

from pathlib import Path
from typing import TypedDict, Unpack

from django.utils import timezone

from arqkit.loads import LoadChoice
from arqkit.records import FileRefusedError
from arqlab.labs.management.labcommand import BY, TASK, LoadCommand, read_bytes, switch
from arqlab.labs.selectors import task_named
from assessment.assignments.services.assigning import assign_topics, pairs_of_file


class _Options(TypedDict):
    task: str
    file: Path
    replace: bool


class Command(LoadCommand):
    """Assign topics to assessors from a CSV or TSV file with a topic and an assessor per line."""

    arguments = {
        **LoadCommand.arguments,
        "task": TASK,
        "file": {"metavar": "FILE", "type": Path},
        "--replace": switch(
            "unassign all other assessors from the topics in the file; labels are kept"
        ),
        "--by": BY,
    }

    def load(self, choice: LoadChoice, *args: object, **options: Unpack[_Options]) -> None:
        """Assign and print how many assignments were made and ended."""
        task, path = task_named(options["task"]), options["file"]
        pairs, problems = pairs_of_file(read_bytes(path), path=str(path), task=task)
        if problems:
            raise FileRefusedError(problems)
        changed = assign_topics(
            task=task,
            pairs=pairs,
            replaces=options["replace"],
            at=timezone.now(),
            by=self.actor(options),
            choice=choice,
        )
        self.stdout.write(f"{changed.made} assignments made, {changed.ended} ended.")
