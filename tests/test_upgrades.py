"""A filled database of version 0.1 becomes one of this version, and no large table is locked."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import apps
from django.db import connection, migrations, models
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.test import Client

from arqlab.core.models import Lab
from tests.factories import make_lab
from tests.test_access import fill

OWN = [config.label for config in apps.get_app_configs() if not config.name.startswith("django")]
LARGE = """assessment.judgment assessment.poolitem assessment.poolinstance collection.post
    core.typesetformula evaluation.topicscore""".split()
"""Tables with millions of rows in a large lab, as `app.model`."""


def migrate(name: str | None) -> Any:
    """Migrate our apps to the migration of this name, or to the last; return its models."""
    executor = MigrationExecutor(connection)
    nodes = executor.loader.graph.nodes
    targets = [node for node in nodes if node[0] in OWN and node[1] == name]
    executor.migrate(targets if name else executor.loader.graph.leaf_nodes())
    return MigrationExecutor(connection).loader.project_state(targets or None).apps


def rows_of(known: Iterable[type[models.Model]], state: Any) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of tables, in the columns that some version of them has."""
    found = {}
    for model in known:
        now = state.get_model(model._meta.label)
        names = [field.attname for field in model._meta.concrete_fields]
        found[model._meta.label] = list(now._base_manager.order_by("pk").values(*names))
    return found


def test_a_filled_database_of_the_first_version_keeps_every_row(transactional_db, tmp_path, media):
    fill(make_lab(), tmp_path)
    old = migrate("0001_initial")
    tables = [model for model in old.get_models() if model._meta.app_label in OWN]
    before = rows_of(tables, old)

    migrate(None)

    assert rows_of(tables, apps) == before
    assert sum(map(len, before.values())) > 100
    assert Client().get(f"/labs/{Lab.objects.get().slug}/").status_code == 200


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
