"""`manage.py import_judgments LAB/TASK FILE`: import labels judged outside ArqLab."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils import timezone

from arqkit.loads import LoadChoice
from arqlab.core.management.labcommand import LoadCommand, read_bytes
from arqlab.core.selectors import person_named, task_named
from assessment.judging.services.importing import import_judgments


class Command(LoadCommand):
    """Store the labels of a file as judgments, or report all its problems and store nothing."""

    help = (
        "Import judgments made outside ArqLab. FILE is a TSV with the columns topic, item, label "
        "and optionally assessor, comment, seconds, judged_at, guidelines; or a "
        "qrels file. Importing a file again changes nothing. A stored label that is newer stays."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the task, the file, the choices, and the user who imports it."""
        super().add_arguments(parser)
        parser.add_argument("task", metavar="LAB/TASK")
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument(
            "--in-pool", action="store_true", help="load only the labels of items in the pool"
        )
        parser.add_argument(
            "--take-older", action="store_true", help="let older labels replace newer ones"
        )
        parser.add_argument(
            "--by", metavar="PERSON", help="email address or user name for the audit log"
        )

    def load(self, choice: LoadChoice, options: dict[str, Any]) -> None:
        """Import the file and print how many labels are new, changed and unchanged."""
        changes = import_judgments(
            task=task_named(options["task"]),
            data=read_bytes(options["file"]),
            path=str(options["file"]),
            at=timezone.now(),
            by=person_named(options["by"]) if options["by"] else None,
            choice=choice._replace(
                leaves_out=options["in_pool"], takes_older=options["take_older"]
            ),
        )
        if not changes.stores:
            self.stdout.write("Nothing to change.")
        self.stdout.write(changes.line)
