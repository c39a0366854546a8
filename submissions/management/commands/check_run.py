"""Check a run file against the rules of a task without storing anything."""

import json
import sys
from io import BytesIO
from pathlib import Path
from typing import TypedDict, Unpack

from arqkit.formats.runs.results import check_files, report_of, report_text
from arqkit.records import ItemKind
from arqlab.core.models import Task
from arqlab.labs.management.labcommand import LabCommand, read_bytes, switch
from arqlab.labs.selectors import task_named
from submissions.selectors import task_pack


class _Options(TypedDict):
    task: str
    file: Path
    items: str | None
    json: bool


class Command(LabCommand):
    """Check a run file (plain, gz or zip) and print the report without storing anything.

    Exit with 1 if a run has errors.
    """

    changes_labs = False

    arguments = {
        "file": {"type": Path, "help": "the run file"},
        "--task": {
            "required": True,
            "metavar": "LAB/TASK",
            "help": "the task whose rules to apply",
        },
        "--items": {
            "choices": Task.Items.values,
            "help": "type of the items, if it cannot be detected from the file",
        },
        "--json": switch("print JSON (a list if the archive contains several runs)"),
    }

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Check the file and print its reports."""
        pack, items = task_pack(task_named(options["task"])), options["items"]
        file = BytesIO(read_bytes(options["file"], "Give the path of a run file."))
        name, kind = options["file"].name, ItemKind(items) if items else None
        results = check_files(file, pack, name=name, items=kind)
        reports = {name: report_of(result) for name, result in results.items()}
        if options["json"]:
            listed = [{"file": name, **report} for name, report in reports.items()]
            self.stdout.write(
                json.dumps(listed[0] if len(listed) == 1 else listed, indent=2, ensure_ascii=False)
            )
        else:
            for name, report in reports.items():
                self.stdout.write("\n".join(report_text(name, report)))
        if not all(report["valid"] for report in reports.values()):
            sys.exit(1)
