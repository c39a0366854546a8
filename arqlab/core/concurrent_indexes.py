"""Indexes of large tables, which are built while others write to them."""

from collections.abc import Callable, Iterable
from contextlib import suppress

from django.db import ProgrammingError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AddIndex, Migration
from django.db.migrations.state import ProjectState
from django.db.models import Index, Model


class AddIndexConcurrently(AddIndex):
    """Add an index, on PostgreSQL CONCURRENTLY; the migration needs `atomic = False`.

    Django's own operation of this name works on PostgreSQL only, and not in a transaction. Here the
    index was built ahead by `build_indexes_ahead`, unless its table or a column of it is new.
    """

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Add the index."""
        connection = schema_editor.connection
        model = to_state.apps.get_model(app_label, self.model_name)
        if _is_built(connection, self.index.name):
            return
        is_concurrent = connection.vendor == "postgresql" and not connection.in_atomic_block
        how: dict[str, object] = {"concurrently": True} if is_concurrent else {}
        schema_editor.add_index(model, self.index, **how)


def build_indexes_ahead(
    connection: BaseDatabaseWrapper,
    migrations: Iterable[Migration],
    state_after: Callable[[Migration], ProjectState],
) -> None:
    """Build the indexes of some migrations, as far as their tables and columns are there.

    Only PostgreSQL does so while others write. An index that is built and not recorded harms no
    version, so what comes after it may fail.
    """
    if connection.vendor != "postgresql":
        return
    for migration in migrations:
        for operation in migration.operations:
            if isinstance(operation, AddIndexConcurrently):
                models = state_after(migration).apps
                model = models.get_model(migration.app_label, operation.model_name)
                _build_ahead(connection, model, operation.index)


def _build_ahead(connection: BaseDatabaseWrapper, model: type[Model], index: Index) -> None:
    if _is_built(connection, index.name):
        return
    with connection.cursor() as cursor:  # left by a build that was killed
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {connection.ops.quote_name(index.name)}")
    with suppress(ProgrammingError), connection.schema_editor(atomic=False) as editor:
        how: dict[str, object] = {"concurrently": True}  # PostgreSQL's editor takes it
        editor.add_index(model, index, **how)


def _is_built(connection: BaseDatabaseWrapper, name: str) -> bool:
    """Return whether an index exists on PostgreSQL, and is complete."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indisvalid"
            " AND relname = %s AND relnamespace = current_schema()::regnamespace",
            [name],
        )
        return cursor.fetchone() is not None
