"""`manage.py export_lab LAB --out FOLDER`: write all files of a lab into a folder."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from arqlab.core.management.labcommand import LabCommand
from arqlab.core.models import Lab
from desk.services.exports import LAB_EXPORTS, task_exports


class Command(LabCommand):
    """Write all files of a lab into a folder: topics, runs, judgments, released qrels and scores,
    teams, and the audit log.
    """

    changes_labs = False

    arguments = {
        "lab": {"metavar": "LAB"},
        "--out": {
            "required": True,
            "metavar": "FOLDER",
            "help": "folder to write to; it must be empty",
        },
    }

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the files."""
        lab = Lab.objects.filter(slug=options["lab"]).first()
        if lab is None:
            known = ", ".join(Lab.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no lab {options['lab']!r}. Labs: {known}.")
        folder = Path(options["out"])
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CommandError(f"{folder} is not an empty folder. Choose another one.")
        for export in LAB_EXPORTS:
            self._write(folder / export.name, export.chunks(lab))
        for task in lab.tasks.select_related("lab"):
            for task_export in task_exports(task, organizes=True):
                self._write(folder / task.slug / task_export.name, task_export.chunks(task))

    def _write(self, path: Path, chunks: Iterable[bytes]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
        self.stdout.write(str(path))
