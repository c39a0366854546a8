"""Migrations that build an index of a large table while others write to it."""

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AddIndex
from django.db.migrations.state import ProjectState


class AddIndexConcurrently(AddIndex):
    """Add an index, on PostgreSQL CONCURRENTLY; the migration needs `atomic = False`.

    Django's own operation of this name works on PostgreSQL only.
    """

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Add the index."""
        how: dict[str, Any] = {"concurrently": True}
        vendor = schema_editor.connection.vendor
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.add_index(model, self.index, **(how if vendor == "postgresql" else {}))
