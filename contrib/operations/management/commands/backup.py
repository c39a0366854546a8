"""`manage.py backup`: write the database and all files into one archive."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from arqlab.labs.management.labcommand import LabCommand
from contrib.operations.services.backups import (
    Backup,
    delete_old_backups,
    make_backup,
    verify_backup,
)


class Command(LabCommand):
    """Write the database and all files into one archive, while servers run, and read it again.

    With ARQLAB_BACKUP_KEY, it is encrypted; without, each backup says so.
    """

    changes_labs = False
    arguments = {
        "--to": {
            "type": Path,
            "metavar": "FOLDER",
            "default": settings.DATA_DIR / "backups",
            "help": "folder of the archives (default: backups in ARQLAB_DATA)",
        },
        "--keep": {
            "type": int,
            "metavar": "DAYS",
            "help": "afterwards, delete the archives in the folder that are older",
        },
        "--verify": {
            "type": Path,
            "metavar": "ARCHIVE",
            "help": "make no backup: read all of this archive",
        },
        "--identity": {
            "type": Path,
            "metavar": "FILE",
            "help": "file of the secret key of an encrypted archive, with --verify",
        },
    }

    def handle(
        self,
        *,
        to: Path,
        keep: int | None,
        verify: Path | None,
        identity: Path | None,
        **options: object,
    ) -> None:
        """Print what is in the archive. Files that the database names and that are lost fail."""
        if verify:
            self._print(verify_backup(path=verify, identity=identity))
            return
        now = timezone.now()
        backup = make_backup(folder=to, at=now)
        if keep:
            for path in delete_old_backups(folder=to, days=keep, at=now):
                self.stdout.write(f"Deleted {path}.")
        self._print(backup)

    def _print(self, backup: Backup) -> None:
        size = f"{backup.path.stat().st_size / 1e6:,.1f} MB"
        self.stdout.write(
            f"{backup.path} ({size}) is whole: the database and {backup.files:,} files."
        )
        if not backup.is_encrypted:
            self.stderr.write(
                "It is not encrypted: whoever reads it has the addresses and password hashes of all"
                " accounts, and everything that is not released. Set ARQLAB_BACKUP_KEY to a public"
                " key of age (docs/operations.md, Encryption).",
                style_func=str,
            )
        if backup.lost:
            raise CommandError(
                f"{len(backup.lost):,} files that the database names were lost before the backup,"
                f" such as {backup.lost[0]}. Take them from an earlier backup."
            )
