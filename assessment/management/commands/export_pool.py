"""`manage.py export_pool LAB/TASK`: print a frozen pool, or write it as a batch of Turkle."""

from pathlib import Path
from typing import TypedDict, Unpack

from django.core.management import CommandError

from arqlab.labs.management.labcommand import TASK, LabCommand
from arqlab.labs.selectors import task_named
from assessment.judging.services.turkle import turkle_files
from assessment.pools.selectors.frozen import pool_file, pool_numbered


class _Options(TypedDict):
    task: str
    pool: int
    format: str
    out: Path | None


class Command(LabCommand):
    """Print a frozen pool as TSV: topic, position, kind, item, doc_id, post_id.

    The SHA-256 of the output is the pool's hash. With `--format turkle --out FOLDER`, write the
    HTML template and the batch CSV of a Turkle project instead.
    """

    changes_labs = False

    arguments = {
        "task": TASK,
        "--pool": {
            "type": int,
            "default": 1,
            "metavar": "N",
            "help": "number of a supplement (default: the pool)",
        },
        "--format": {"choices": ["tsv", "turkle"], "default": "tsv", "help": "format"},
        "--out": {"type": Path, "metavar": "FOLDER", "help": "folder for the files of Turkle"},
    }

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Print the file, or write those of Turkle."""
        pool = pool_numbered(task_named(options["task"]), options["pool"])
        if options["format"] == "tsv":
            self.stdout.write(pool_file(pool).decode(), ending="")
            return
        if options["out"] is None:
            raise CommandError("Turkle reads two files. Name their folder with --out FOLDER.")
        options["out"].mkdir(parents=True, exist_ok=True)
        for name, chunks in turkle_files(pool):
            with (options["out"] / name).open("wb") as file:
                file.writelines(chunks)
            self.stdout.write(str(options["out"] / name))
