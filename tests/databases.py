"""Databases for tests: migrated once for all workers, and emptied quickly after each test that
commits.
"""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg2
from django.core.management.color import no_style
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

TEMPLATE = "ARQLAB_TEST_TEMPLATE"
"""The variable that names the migrated database: PostgreSQL's by its name, SQLite's by its file."""
SQLITE_TEMPLATE = "ARQLAB_TEST_SQLITE"
"""The variable that names the migrated file of SQLite, in tests on PostgreSQL too."""
UseDatabase = Callable[[Path], None]
# Django fills these when it migrates, and no test changes them.
KEPT = {"django_content_type", "auth_permission"}


def copy_template() -> None:
    """Let this worker's database begin as a copy of the migrated one; PostgreSQL does so by itself
    (`TEST["TEMPLATE"]`).
    """
    template, creation = os.environ.get(TEMPLATE), connection.creation
    if not template or connection.vendor != "sqlite":
        return
    create = creation._create_test_db

    def copy(*arguments: Any, **options: Any) -> str:
        name = create(*arguments, **options)
        shutil.copyfile(template, name)
        return str(name)

    creation._create_test_db = copy


def drop_by_force() -> None:
    """Let this worker drop its PostgreSQL database even if the connection of a process that was
    killed has not ended yet.
    """
    if connection.vendor != "postgresql":
        return

    def drop(name: str, verbosity: int) -> None:
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE {connection.ops.quote_name(name)} WITH (FORCE)")

    connection.creation._destroy_test_db = drop


def new_database(folder: Path) -> str | None:
    """Make a database for processes on a folder and return its address: on the server that the
    tests run on, else (None) SQLite's in the folder itself. It is migrated where there is a
    migrated one to copy."""
    server, template = os.environ.get("DATABASE_URL"), os.environ.get(TEMPLATE)
    if not server:
        return copy_embedded(folder)
    name = f"together_{hashlib.sha256(bytes(folder)).hexdigest()[:12]}"
    with contextlib.closing(psycopg2.connect(server)) as connected:
        connected.autocommit = True
        connected.cursor().execute(
            f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else "")
        )
    return f"{server.rpartition('/')[0]}/{name}"


def copy_embedded(folder: Path) -> None:
    """Copy the migrated database of SQLite, where there is one, into a data folder without one."""
    path = folder / "arqlab.sqlite3"
    if (template := os.environ.get(SQLITE_TEMPLATE)) and not path.exists():
        shutil.copyfile(template, path)


def empty_tables(database: BaseDatabaseWrapper) -> None:
    """Empty the tables that a test filled. Their numbers go on: what a server remembers of a row
    names no later one.
    """
    tables = sorted(set(database.introspection.django_table_names(include_views=False)) - KEPT)
    query = " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM \"{table}\")" for table in tables
    )
    with database.cursor() as cursor:
        cursor.execute(query)
        filled = [row[0] for row in cursor.fetchall()]
    if filled:
        statements = database.ops.sql_flush(
            no_style(), filled, reset_sequences=False, allow_cascade=True
        )
        database.ops.execute_sql_flush(statements)
