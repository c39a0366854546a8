"""`manage.py restore ARCHIVE`: put the database and the files of a backup in place."""

from pathlib import Path

from django.utils import timezone

from arqlab.labs.management.labcommand import LabCommand, switch
from contrib.operations.services.backups import restore_backup


class Command(LabCommand):
    """Read all of an archive, then put its database and files in place, and migrate the database.

    Stop all servers and workers first.
    """

    changes_labs = False
    arguments = {
        "archive": {"type": Path, "metavar": "ARCHIVE"},
        "--identity": {
            "type": Path,
            "metavar": "FILE",
            "help": "file of the secret key of an encrypted archive",
        },
        "--replace": switch("replace the database and the files that are here"),
    }

    def handle(
        self, *, archive: Path, identity: Path | None, replace: bool, **options: object
    ) -> None:
        """Print what was restored."""
        backup = restore_backup(
            path=archive, identity=identity, replaces=replace, at=timezone.now()
        )
        self.stdout.write(f"Restored the database and {backup.files:,} files of {backup.path}.")
