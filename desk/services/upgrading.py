"""The upgrade of a database: all migrations in one transaction, of a database that is ArqLab's."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from arqlab.core.concurrent_indexes import build_indexes_ahead
from arqlab.core.errors import UserError
from arqlab.core.models import Upgrade
from arqlab.core.services.schema import last_upgrade, require_own_schema
from desk.services.database_copies import copy_sqlite

FOLDER = "before-upgrades"
"""The folder of the copies in the data folder; the newest `COPIES` are kept."""
COPIES = 3


def copy_before_upgrade(*, at: datetime) -> Path | None:
    """Copy a database of SQLite that has migrations to run, and return the copy.

    PostgreSQL and an empty database are not copied. Raises `UserError` if the copy fails.
    """
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if connection.vendor != "sqlite" or not plan or not executor.loader.applied_migrations:
        return None
    folder = settings.DATA_DIR / FOLDER
    path = folder / f"{at.astimezone(UTC):%Y%m%dT%H%M%S%fZ}.sqlite3"
    try:
        folder.mkdir(exist_ok=True)
        copy_sqlite(path)
    except (OSError, sqlite3.Error) as error:
        raise UserError(
            f"The database cannot be copied to {folder}: {error}. Make room there, or"
            " run `manage.py migrate --no-copy` once you have a backup."
        ) from error
    for old in sorted(folder.glob("*.sqlite3"))[:-COPIES]:
        old.unlink()
    return path


@contextmanager
def upgrade_in_one_transaction() -> Iterator[None]:
    """Let migrations run in one transaction, and end it only if their schema is right.

    The version is recorded in it. Indexes of large tables are built before, while others write.
    """
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    build_indexes_ahead(
        connection,
        [migration for migration, _ in plan],
        lambda migration: executor.loader.project_state((migration.app_label, migration.name)),
    )
    # SQLite's tables are rebuilt without foreign keys, which only end outside of a transaction.
    is_sqlite = connection.disable_constraint_checking()
    try:
        with transaction.atomic():
            yield
            require_own_schema(connection)
            _record_version()
    finally:
        if is_sqlite:
            connection.enable_constraint_checking()


def _record_version() -> None:
    last = last_upgrade(connection)
    is_known = Upgrade._meta.db_table in connection.introspection.table_names()
    if is_known and (last is None or last[0] != settings.VERSION):
        Upgrade.objects.create(version=settings.VERSION)
