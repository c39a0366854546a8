"""`manage.py archive LAB`: write everything about a lab into one file."""

from pathlib import Path
from typing import TypedDict, Unpack

from arqlab.labs.management.labcommand import LabCommand, switch
from arqlab.labs.selectors import lab_named
from desk.services.lab_archives import archive_lab


class _Options(TypedDict):
    lab: str
    published: bool
    out: Path | None


class Command(LabCommand):
    """Write everything about a lab into one file (BagIt), from which another server restores it."""

    changes_labs = False
    arguments = {
        "lab": {"metavar": "LAB"},
        "--published": switch("write a test collection for everyone: what is released only"),
        "--out": {"type": Path, "metavar": "FILE", "help": "the file (default: LAB.zip)"},
    }

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Print the number of rows of each table."""
        lab = lab_named(options["lab"])
        path = options["out"] or Path(f"{lab.slug}.zip")
        archive = archive_lab(lab, path=path, published=options["published"])
        for table, rows in archive.counts.items():
            if rows:
                self.stdout.write(f"{rows:>9,} {table}")
        self.stdout.write(f"{path} ({path.stat().st_size / 1e6:,.1f} MB) is whole.")
