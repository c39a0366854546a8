"""Backups: the database and the files in one archive, and how they are restored.

What can be made again is left out: retrieval indexes, the answers that baselines of language models
are made of, unfinished uploads and files that nothing refers to.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from pyrage import EncryptError, IdentityError, RecipientError, x25519

from arqlab.core.errors import UserError
from arqlab.core.files import FileAt, kept
from arqlab.core.services.schema import unknown_migrations
from contrib.operations.services.backup_archives import (
    ArchiveWriter,
    Manifest,
    damaged,
    new_archive,
    read_archive,
)
from desk.services.database_copies import DatabaseCopy, copy_database, is_filled, load_database
from desk.services.load_files import INCOMING, UNUSED, put_aside

DATABASE, FILES, KEY = "database", "files", "secret-key"
"""The members of an archive; the files are below `files/`."""
NAME, STAMP = "arqlab-", "%Y%m%dT%H%M%SZ"
ENCRYPTED = ".age"
LAST_BACKUP = "last-backup"
"""The key of the time of the last backup, which `manage.py doctor` reads."""


class Backup(NamedTuple):
    """An archive, and what is in it: its files with the database, and the lost ones.

    A lost file is one that the database names and that no longer exists.
    """

    path: Path
    files: int
    lost: list[str]

    @property
    def is_encrypted(self) -> bool:
        """Return whether only the secret key reads the archive."""
        return self.path.suffix == ENCRYPTED


def make_backup(*, folder: Path, at: datetime) -> Backup:
    """Write an archive into a folder, read all of it again, and return it.

    Raises `UserError` if it cannot be written or is not what was written.
    """
    ending = f".tar.gz{ENCRYPTED}" if settings.BACKUP_KEY else ".tar.gz"
    path = folder / f"{NAME}{at.astimezone(UTC):{STAMP}}{ending}"
    identity = x25519.Identity.generate()  # reads the archive once, and is forgotten
    recipients = [_recipient(), identity.to_public()] if settings.BACKUP_KEY else []
    head = {"database": connection.vendor, "version": settings.VERSION}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder, prefix=f"{NAME}unfinished-") as unfinished:
            new = Path(unfinished, path.name)
            with new_archive(new, recipients) as out:
                _write(ArchiveWriter(out, head), Path(unfinished), at)
            tail = _read(new, [identity])
            new.rename(path)
        cache.set(LAST_BACKUP, at, timeout=None)
    except (OSError, EncryptError) as error:
        raise UserError(
            f"No backup was made in {folder}: {error}. Make room there, or correct its permissions."
        ) from error
    return _backup(path, tail)


def verify_backup(*, path: Path, identity: Path | None) -> Backup:
    """Read all of an archive and return what is in it; raise `UserError` if it is damaged."""
    return _backup(path, _read(path, _identities(identity)))


def restore_backup(*, path: Path, identity: Path | None, replaces: bool, at: datetime) -> Backup:
    """Put the database and the files of an archive in place, once all of it was read and compared.

    What is there is replaced only if `replaces` says so; its files are put aside. Raises
    `UserError` for a place that is not empty, and for an archive that cannot be restored here.
    """
    if not replaces and (is_filled() or any(_kept_names())):
        raise UserError(
            f"The database has labs or accounts, or {kept.place} has files. Set DATABASE_URL and"
            " ARQLAB_DATA or ARQLAB_S3_BUCKET to an empty place, or add --replace to lose what is"
            " here.",
            code="filled",
        )
    with TemporaryDirectory(dir=settings.DATA_DIR, prefix="restoring-") as folder:
        new = Path(folder)
        tail = _read(path, _identities(identity), into=new, database=connection.vendor)
        if newer := unknown_migrations(tail["migrations"]):
            raise UserError(
                f"{path} was made by a newer version of ArqLab: this one lacks the migration"
                f" {newer[0]}. Update ArqLab, then restore.",
                code="newer",
            )
        load_database(new / DATABASE)
        for name in list(_kept_names()):
            put_aside(name, at=at)
        for file in filter(Path.is_file, (new / FILES).rglob("*")):
            with FileAt(file) as content:
                kept.replace(file.relative_to(new / FILES).as_posix(), content)
        if (new / KEY).is_file():
            (new / KEY).rename(settings.DATA_DIR / KEY)
    call_command("migrate", interactive=False, verbosity=0)
    return _backup(path, tail)


def delete_old_backups(*, folder: Path, days: int, at: datetime) -> list[Path]:
    """Delete the archives of a folder that are older than some days. Return them."""
    first = f"{NAME}{at.astimezone(UTC) - timedelta(days=days):{STAMP}}"
    old = [path for path in sorted(folder.glob(f"{NAME}[0-9]*.tar.gz*")) if path.name < first]
    for path in old:
        path.unlink()
    return old


def _write(archive: ArchiveWriter, unfinished: Path, at: datetime) -> None:
    """Write the files, the database, and the files that were stored between the two.

    A file is stored before the row that names it, and replaced ones are deleted after their row:
    one that the copied row names was there before or is there afterwards.
    """
    for _ in range(2):  # again, if a file came and went between the three
        _add_files(archive, unfinished)
        copy = copy_database(unfinished / DATABASE)
        _add_files(archive, unfinished)
        archive.add(DATABASE, unfinished / DATABASE)
        lost = _lost(archive, copy)
        if not lost:
            break
    if (key := settings.DATA_DIR / KEY).exists():
        archive.add(KEY, key)
    archive.close({"made_at": at.isoformat(), "migrations": copy.migrations, "lost": lost})


def _lost(archive: ArchiveWriter, copy: DatabaseCopy) -> list[str]:
    return sorted(name for name in copy.files if f"{FILES}/{name}" not in archive.members)


def _add_files(archive: ArchiveWriter, folder: Path) -> None:
    """Add the kept files that were not added before; what a file holds never changes."""
    for name in _kept_names():
        if f"{FILES}/{name}" not in archive.members:
            with suppress(FileNotFoundError):  # it was deleted since it was listed
                archive.add(f"{FILES}/{name}", kept.local(name, folder / "file"))


def _kept_names() -> Iterator[str]:
    for folder in kept.folders():
        if folder not in (INCOMING, UNUSED):
            yield from kept.names(folder)


def _read(
    path: Path, identities: list[x25519.Identity], *, into: Path | None = None, database: str = ""
) -> Manifest:
    """Read an archive as `read_archive` does. Raise `UserError` for one without a database."""
    tail = read_archive(path, identities, into=into, database=database)
    if DATABASE not in tail["members"]:
        raise damaged(path, "it has no database")
    return tail


def _backup(path: Path, tail: Manifest) -> Backup:
    files = sum(name.startswith(f"{FILES}/") for name in tail["members"])
    return Backup(path, files, tail["lost"])


def _recipient() -> x25519.Recipient:
    try:
        return x25519.Recipient.from_str(settings.BACKUP_KEY)
    except RecipientError as error:
        raise UserError(
            "ARQLAB_BACKUP_KEY is not a public key of age, which begins with age1. Correct it, or"
            " remove it to make backups that everybody can read.",
            code="key",
        ) from error


def _identities(file: Path | None) -> list[x25519.Identity]:
    """Return the secret keys in a file, in which lines that begin with # are comments."""
    try:
        lines = file.read_text(encoding="utf-8").split("\n") if file else []
        keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        return [x25519.Identity.from_str(key) for key in keys]
    except (OSError, ValueError, IdentityError) as error:
        raise UserError(
            f"{file} is not a file of secret keys of age, with lines that begin with"
            f" AGE-SECRET-KEY-: {error}. Check the path.",
            code="key",
        ) from error
