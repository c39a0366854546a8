"""An index of a large table is built while others write, before the transaction of an upgrade."""

import pytest
from django.db import DatabaseError, connection, models, transaction
from django.db.migrations import AddField, Migration
from django.db.migrations.loader import MigrationLoader

from arqlab.core.concurrent_indexes import AddIndexConcurrently, build_indexes_ahead
from tests.factories import LabFactory

# Only PostgreSQL builds it so.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]
NAME = "lab_for_tests"


def migration_of(*fields: str, first: tuple = ()) -> Migration:
    """Return a migration that adds an index of labs, after some operations."""
    migration = Migration("9999_index", "core")
    migration.operations = [
        *first,
        AddIndexConcurrently("lab", models.Index(fields=fields, name=NAME)),
    ]
    return migration


def upgrade(migration: Migration) -> None:
    """Build the index of a migration ahead, run the migration in a transaction, and undo it."""
    before = MigrationLoader(connection).project_state()
    build_indexes_ahead(connection, [migration], lambda _: migration.mutate_state(before))
    with transaction.atomic():
        with connection.schema_editor() as editor:
            migration.apply(before.clone(), editor)
        assert states() == [True]
        transaction.set_rollback(True)


def states() -> list[bool]:
    """Return whether the index is complete, if it is there."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname = %s",
            [NAME],
        )
        return [row[0] for row in cursor.fetchall()]


@pytest.fixture(autouse=True)
def no_index():
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {NAME}")


def test_an_index_of_columns_that_are_there_is_built_before_the_transaction():
    upgrade(migration_of("name"))

    assert states() == [True]


def test_what_a_killed_build_left_is_built_again():
    LabFactory.create_batch(2)
    with pytest.raises(DatabaseError), connection.cursor() as cursor:
        cursor.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {NAME} ON core_lab (protocol)")
    assert states() == [False]

    upgrade(migration_of("protocol"))

    assert states() == [True]


def test_an_index_of_a_new_column_is_built_in_the_transaction():
    new = AddField("lab", "motto", models.TextField(null=True))
    upgrade(migration_of("motto", first=(new,)))

    assert states() == []
