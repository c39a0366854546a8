"""The app's configuration for Django, with handlers before and after its migrations."""

from django.db.models.signals import post_migrate, pre_migrate

from arqlab.apps import LabApp


class CollectionConfig(LabApp):
    """Collections that systems search."""

    name = "collection"

    def ready(self) -> None:
        """Drop the triggers of the text search before a migration, and create them afterwards."""
        super().ready()
        from collection.services.triggers import drop_triggers, restore_triggers

        pre_migrate.connect(drop_triggers, sender=self)
        post_migrate.connect(restore_triggers, sender=self)
