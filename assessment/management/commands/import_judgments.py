"""`manage.py import_judgments LAB/TASK FILE`: import labels judged outside ArqLab."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from arqlab.core.management.labcommand import LabCommand
from arqlab.core.selectors import person_named, task_named
from arqlab.ir.records import FileRefusedError
from assessment.judging.services.importing import import_judgments


class Command(LabCommand):
    """Store the labels of a file as judgments, or report all its problems and store nothing."""

    help = (
        "Import judgments made outside ArqLab. FILE is a TSV with the columns topic, item, label "
        "and optionally assessor, comment, seconds, judged_at, guidelines; or a "
        "qrels file. Importing a file again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the task, the file, and the user who imports it."""
        parser.add_argument("task", metavar="LAB/TASK")
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument(
            "--by", metavar="PERSON", help="email address or user name for the audit log"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the file and print how many labels are new, changed and unchanged."""
        task, path = task_named(options["task"]), options["file"]
        by = person_named(options["by"]) if options["by"] else None
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CommandError(f"Cannot read {path}: {error.strerror}. Check the path.") from error
        try:
            counts = import_judgments(
                task=task, data=data, path=str(path), at=timezone.now(), by=by
            )
        except FileRefusedError as error:
            problems = "\n".join(f"  {problem}" for problem in error.problems)
            raise CommandError(
                f"Nothing was imported: {path} has {len(error.problems)} "
                f"problem{'s' * (len(error.problems) != 1)}.\n"
                f"{problems}"
            ) from error
        if not counts.new + counts.changed:
            self.stdout.write("Nothing to change.")
        self.stdout.write(
            f"{counts.new} new, {counts.changed} changed, {counts.unchanged} unchanged."
        )
