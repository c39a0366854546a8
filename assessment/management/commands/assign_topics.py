"""`manage.py assign_topics LAB/TASK FILE`: assign topics to assessors from a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from arqlab.core.management.labcommand import LabCommand
from arqlab.core.selectors import person_named, task_named
from assessment.assignments.services.assigning import assign_topics, pairs_of_file


class Command(LabCommand):
    """Assign topics; if anything in the file is wrong, report all problems and assign nothing."""

    help = (
        "Assign topics to assessors from a CSV or TSV file with one topic and one "
        "assessor per line."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the task, the file, whether to replace assignments, and the user."""
        parser.add_argument("task", metavar="LAB/TASK")
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument(
            "--replace",
            action="store_true",
            help="unassign all other assessors from the topics in the file; labels are kept",
        )
        parser.add_argument(
            "--by",
            metavar="PERSON",
            help="email address or user name for the audit log",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Assign and print how many assignments were made and ended."""
        task = task_named(options["task"])
        by = person_named(options["by"]) if options["by"] else None
        try:
            data = options["file"].read_bytes()
        except OSError as error:
            raise CommandError(
                f"Cannot read {options['file']}: {error.strerror}. Check the path."
            ) from error
        pairs, problems = pairs_of_file(data, path=str(options["file"]), task=task)
        if problems:
            lines = "\n".join(f"  {problem}" for problem in problems)
            raise CommandError(
                f"Nothing was assigned: {len(problems)} problem{'s' * (len(problems) != 1)}."
                f"\n{lines}"
            )
        changed = assign_topics(
            task=task, pairs=pairs, replaces=options["replace"], at=timezone.now(), by=by
        )
        self.stdout.write(f"{changed.made} assignments made, {changed.ended} ended.")
