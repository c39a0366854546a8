"""Copies of the whole database as one file, taken and restored while servers use it."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from django.db import DatabaseError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from arqlab.core.errors import UserError
from arqlab.core.models import Lab, User
from arqlab.core.selectors import named_files
from arqlab.core.services.schema import require_own_schema

COPY = "copy"
"""The name by which Django reads the copy of an SQLite database."""


class DatabaseCopy(NamedTuple):
    """A database at one moment: the files that its rows name, and its migrations."""

    files: set[str]
    migrations: list[str]


def copy_database(path: Path) -> DatabaseCopy:
    """Copy the database into a file, while others write to it.

    Raises `UserError` if the database is damaged, or if PostgreSQL's client is missing or fails.
    """
    return _copy_sqlite(path) if connection.vendor == "sqlite" else _dump_postgresql(path)


def load_database(path: Path) -> None:
    """Replace the database by a copy: all of it, or nothing if that fails with `UserError`.

    It fails for a copy whose schema is not what its migrations make, too.
    """
    if connection.vendor == "sqlite":
        try:
            with _opened(path) as copied:
                require_own_schema(copied)
        except DatabaseError as error:
            raise UserError(
                f"The database of the archive is damaged: {error}. Use another archive.",
                code="damaged",
            ) from error
        connection.ensure_connection()
        with closing(sqlite3.connect(path)) as copy:
            copy.backup(connection.connection)
    else:
        _load_postgresql(path)
    connection.close()


def is_filled() -> bool:
    """Return whether the database has labs or accounts."""
    table_names = set(connection.introspection.table_names())
    return any(
        model._meta.db_table in table_names and model._base_manager.exists()
        for model in (Lab, User)
    )


def _contents(alias: str) -> DatabaseCopy:
    applied = MigrationRecorder(connections[alias]).applied_migrations()
    return DatabaseCopy(set(named_files(using=alias)), [f"{app}.{name}" for app, name in applied])


def copy_sqlite(path: Path) -> None:
    """Copy the database of SQLite into a file; raise `UserError` if it is damaged."""
    connection.ensure_connection()
    with closing(sqlite3.connect(path)) as copy:
        connection.connection.backup(copy)
        # One file: a log beside it would not be in the archive.
        copy.execute("PRAGMA journal_mode=DELETE")
        [[verdict]] = copy.execute("PRAGMA quick_check(1)")
    if verdict != "ok":
        raise UserError(
            f"The database is damaged: {verdict}. No archive was made. Stop the server, and restore"
            " the last archive in another place to compare them.",
            code="damaged",
        )


def _copy_sqlite(path: Path) -> DatabaseCopy:
    copy_sqlite(path)
    with _opened(path):
        return _contents(COPY)


@contextmanager
def _opened(path: Path) -> Iterator[BaseDatabaseWrapper]:
    """Open the copy of an SQLite database, which has the alias `COPY` meanwhile."""
    connections.databases[COPY] = connection.settings_dict | {"NAME": str(path), "OPTIONS": {}}
    try:
        yield connections[COPY]
    finally:
        connections[COPY].close()
        del connections[COPY], connections.databases[COPY]


def _dump_postgresql(path: Path) -> DatabaseCopy:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        snapshot = cursor.fetchone()[0]
        _run("pg_dump", "--format=custom", f"--file={path}", f"--snapshot={snapshot}")
        return _contents("default")


def _load_postgresql(path: Path) -> None:
    with _empty_schema():
        _run("pg_restore", "--single-transaction", "--no-owner", "--no-privileges", str(path))
        require_own_schema(connection)


@contextmanager
def _empty_schema() -> Iterator[None]:
    """Put the tables aside, drop them afterwards, and put them back if an error is raised."""
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA IF EXISTS before_restore CASCADE")  # of one that was killed
        cursor.execute("ALTER SCHEMA public RENAME TO before_restore")
        cursor.execute("CREATE SCHEMA public")
        try:
            yield
        except BaseException:
            cursor.execute("DROP SCHEMA public CASCADE")
            cursor.execute("ALTER SCHEMA before_restore RENAME TO public")
            raise
        cursor.execute("DROP SCHEMA before_restore CASCADE")


def _run(program: str, *options: str) -> None:
    """Run a program of PostgreSQL's client on the database; raise `UserError` if it fails."""
    words, variables = connection.client.settings_to_cmd_args_env(connection.settings_dict, [])
    # Django names the database last, as psql takes it.
    command = [program, *words[1:-1], f"--dbname={words[-1]}", *options]
    try:
        subprocess.run(  # noqa: S603  # its words are ours and the settings'
            command,
            env=os.environ | (variables or {}),
            check=True,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except FileNotFoundError as error:
        raise UserError(
            f"{program} was not found. Install PostgreSQL's client (Debian: postgresql-client), as"
            " new as the server.",
            code="client",
        ) from error
    except subprocess.CalledProcessError as error:
        raise UserError(f"{program} failed: {error.stderr.strip()}", code="client") from error
