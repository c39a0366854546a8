"""Check a run file against the rules of a task, without storing anything."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.management.base import CommandError, CommandParser

from arqlab.core.management.labcommand import LabCommand
from arqlab.core.models import Task
from arqlab.core.selectors import task_named
from submissions.management.report_text import report_text
from submissions.services.checking import check_file


class Command(LabCommand):
    """Report every problem of a run file, as text or JSON, and exit with 1 when a run has errors."""

    help = "Checks a run file (plain, gz or zip) and prints its report. Exits with 1 when a run has errors. Stores nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file, the task and the form of the report."""
        parser.add_argument("file", type=Path, help="the run file")
        parser.add_argument(
            "--task", required=True, metavar="LAB/TASK", help="the task whose rules hold"
        )
        parser.add_argument(
            "--items",
            choices=Task.Items.values,
            help="what the items are, where the file does not tell",
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="print JSON; of an archive with several runs, a list",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check and report; nothing is stored."""
        try:
            task = task_named(options["task"])
            with options["file"].open("rb") as stream:
                file = File(stream, name=options["file"].name)
                reports = check_file(file=file, task=task, items=options["items"] or "")
        except OSError as error:
            raise CommandError(
                f"{options['file']} cannot be read: {error.strerror}. Give the path of a run file."
            ) from error
        if options["json"]:
            shown = [{"file": name, **report} for name, report in reports.items()]
            self.stdout.write(
                json.dumps(shown[0] if len(shown) == 1 else shown, indent=2, ensure_ascii=False)
            )
        else:
            for name, report in reports.items():
                self.stdout.write("\n".join(report_text(name, report)))
        if not all(report["valid"] for report in reports.values()):
            sys.exit(1)
