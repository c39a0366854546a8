"""`manage.py restore_archive FILE`: make a lab again from its archive."""

from pathlib import Path
from typing import TypedDict, Unpack

from arqlab.labs.management.labcommand import LabCommand
from desk.services.lab_archives import restore_lab


class _Options(TypedDict):
    archive: Path


class Command(LabCommand):
    """Make a lab from its archive: all of it, or nothing.

    People without an account under their email address get one, and set a password by "Forgot your
    password?". An account that has not confirmed the address of a person stops the restore.
    """

    changes_labs = False
    arguments = {"archive": {"type": Path, "metavar": "FILE"}}

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Print the address of the lab."""
        lab = restore_lab(options["archive"])
        self.stdout.write(f"Restored {lab.name}: /labs/{lab.slug}/")
