"""Every frozen release becomes one of this version, and no large table is locked."""

import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg2
import pytest
from django.apps import apps
from django.db import migrations, models
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from tests.served import listening
from tests.test_versions import RELEASES as RELEASED
from tests.upgrades.rows import empty_models, fill_every_model
from tests.upgrades.thaw import RELEASES, frozen_figures, run, thaw

CHANGED: dict[str, set[str]] = {"0.1.0": set()}
"""The tables to whose rows a later migration adds, by release. Name the migration."""
OWN = [config.label for config in apps.get_app_configs() if not config.name.startswith("django")]
LARGE = """assessment.judgment assessment.poolitem assessment.poolinstance collection.post
    core.typesetformula evaluation.topicscore""".split()
"""Tables with millions of rows in a large lab, as `app.model`."""
DIES = """
import os, signal, sys
import django
django.setup()
from django.core.management import call_command
from django.db.migrations.executor import MigrationExecutor

apply = MigrationExecutor.apply_migration

def apply_until_the_last(self, state, migration, **options):
    last, _ = self.migration_plan(self.loader.graph.leaf_nodes())[-1]
    state = apply(self, state, migration, **options)
    if migration == last:
        {fault}
    return state

MigrationExecutor.apply_migration = apply_until_the_last
call_command("migrate")
"""
KILLED = "os.kill(os.getpid(), signal.SIGKILL)"
FAILED = "raise django.db.DatabaseError('the disk is on fire')"


class Upgraded(NamedTuple):
    """A release after `migrate`: its figures before and now, and what the command printed."""

    release: str
    before: Any
    now: Any
    printed: str


@pytest.fixture(scope="module", params=RELEASES)
def upgraded(request: pytest.FixtureRequest, tmp_path_factory, use_tested_database) -> Upgraded:
    """Migrate a frozen release with the command, and read its figures."""
    data = tmp_path_factory.mktemp("upgraded")
    variables = thaw(request.param, data)
    migrated = run(variables, "manage.py", "migrate")
    assert migrated.returncode == 0, migrated.stderr
    figures = run(variables, "-m", "tests.upgrades.figures")
    assert figures.returncode == 0, figures.stderr[-2000:]
    before = frozen_figures(request.param)
    return Upgraded(request.param, before, json.loads(figures.stdout), migrated.stdout)


def test_every_release_is_frozen_for_both_databases():
    assert sorted(RELEASED) == RELEASES


@pytest.mark.once
def test_the_rows_of_the_next_release_to_freeze_fill_every_model(db, media, tmp_path):
    fill_every_model(tmp_path)

    # `migrate` made the row of an upgrade; a test before may have emptied the table.
    assert set(empty_models()) <= {"core.Upgrade"}, "Add rows to tests/upgrades/rows.py."


def test_an_upgrade_keeps_the_rows_of_every_table(upgraded):
    before, now = upgraded.before["counts"], upgraded.now["counts"]

    different = {name for name, rows in before.items() if now.get(name) != rows}
    assert different <= CHANGED[upgraded.release]
    assert sum(before.values()) > 200


@pytest.mark.parametrize("name", ["board", "scores", "qrels", "judgments"])
def test_an_upgrade_keeps_what_was_published_and_judged(name, upgraded):
    before, now = upgraded.before["tables"][name], upgraded.now["tables"][name]

    assert [part_of(row, old) for row, old in zip(now, before, strict=True)] == before
    assert before


def test_an_upgrade_keeps_every_digit_and_field_of_the_board_in_the_api(upgraded):
    assert part_of(upgraded.now["api"], upgraded.before["api"]) == upgraded.before["api"]


def part_of(value: Any, old: Any) -> Any:
    """Return what a value has of the fields of an older one: later versions only add some."""
    if isinstance(old, dict) and isinstance(value, dict):
        return {name: part_of(value[name], old[name]) for name in old if name in value}
    if isinstance(old, list) and isinstance(value, list) and len(old) == len(value):
        return [part_of(new, part) for new, part in zip(value, old, strict=True)]
    return value


def test_every_page_opens_after_an_upgrade(upgraded):
    for role, statuses in upgraded.now["pages"].items():
        before = upgraded.before["pages"][role]
        assert {name for name, status in statuses.items() if status >= 500} == set()
        lost = {name: now for name, now in statuses.items() if now >= 400 > before.get(name, 400)}
        assert lost == {}, role
        assert len(statuses) > 60


def schema_of(variables: dict[str, str]) -> list[Any]:
    """Return the migrations, tables, columns and indexes of a database, as it lists them."""
    columns = "SELECT table_name, column_name, data_type FROM information_schema.columns"
    if url := variables.get("DATABASE_URL"):
        connected: Any = psycopg2.connect(url)
        statements = [f"{columns} WHERE table_schema = 'public'", "SELECT indexdef FROM pg_indexes"]
    else:
        connected = sqlite3.connect(Path(variables["ARQLAB_DATA"], "arqlab.sqlite3"))
        statements = ["SELECT name, sql FROM sqlite_master"]
    with contextlib.closing(connected):
        cursor, found = connected.cursor(), []
        for statement in (*statements, "SELECT app, name FROM django_migrations"):
            cursor.execute(statement)
            found += sorted(map(repr, cursor.fetchall()))
    return found


@pytest.mark.parametrize("fault", [KILLED, FAILED], ids=["killed", "failed"])
def test_an_upgrade_that_ends_half_way_leaves_the_database_to_the_old_version(
    fault, tmp_path, use_tested_database
):
    variables = thaw(RELEASES[-1], tmp_path)
    before = schema_of(variables)
    ended = run(variables, "-c", DIES.format(fault=fault))

    assert schema_of(variables) == before
    assert ended.returncode == (-9 if fault == KILLED else 1)
    if fault == FAILED:
        assert "the database is as it was." in ended.stderr
        assert "The reason: the disk is on fire" in ended.stderr


@pytest.mark.once  # on SQLite: PostgreSQL's database is not copied
def test_serve_names_the_copy_that_it_makes_before_an_upgrade(tmp_path, use_tested_database):
    variables = thaw(RELEASES[-1], tmp_path)
    rows = rows_of(tmp_path / "arqlab.sqlite3")
    command = [sys.executable, "manage.py", "serve", "--bind", "{bind}"]
    server, _ = listening(command, env=variables, stdout=subprocess.PIPE, text=True)
    printed = []
    for line in server.stdout:
        printed.append(line)
        if "is running" in line:
            break
    server.terminate()
    server.communicate()

    [copy] = (tmp_path / "before-upgrades").iterdir()
    assert f"The database before this upgrade: {copy}\n" in printed
    assert rows_of(copy) == rows
    assert copy.stat().st_mode & 0o077 == 0


def rows_of(path: Path) -> list[str]:
    """Return all that is in a database of SQLite."""
    with contextlib.closing(sqlite3.connect(path)) as connected:
        return list(connected.iterdump())


def locks(operation: Operation) -> bool:
    """Return whether an operation stops those who write to a table while it reads all rows."""
    if isinstance(operation, migrations.AddField):
        field = operation.field
        return bool(field.unique or field.db_index or not (field.null or field.has_db_default()))
    kinds = (migrations.AddConstraint, migrations.AlterField, migrations.AddIndex)
    return isinstance(operation, kinds) and "Concurrently" not in type(operation).__name__


def locking(migration: Migration) -> Iterator[str]:
    """Yield the large tables that a migration locks."""
    for operation in migration.operations:
        name = getattr(operation, "model_name", "")
        if f"{migration.app_label}.{name}".lower() in LARGE and locks(operation):
            yield f"{migration}: {operation.describe()}"


def test_no_migration_locks_a_large_table():
    """Build an index with `AddIndexConcurrently`, and add columns that may be empty."""
    every = MigrationLoader(None).disk_migrations
    later = [one for (app, name), one in every.items() if app in OWN and name != "0001_initial"]

    assert later
    assert [found for migration in later for found in locking(migration)] == []


def test_the_search_for_locks_finds_an_index_and_a_column_with_a_value():
    made = Migration("0002_made", "assessment")
    index = models.Index(fields=["label"], name="by_label")
    made.operations = [
        migrations.AddIndex("Judgment", index),
        migrations.AddField("Judgment", "size", models.IntegerField(default=1)),
        migrations.AddField("Judgment", "note", models.TextField(null=True)),
    ]

    assert len(list(locking(made))) == 2
