"""What the commands on labs have in common."""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from arqlab.core.errors import UserError


class LabCommand(BaseCommand):
    """A command that works on labs.

    It makes the tables of a database that has none yet, so that it can be the first one that is
    ever run; a database with tables is left to `manage.py migrate`. A `UserError` becomes the
    sentence that the command fails with.
    """

    # They load every page of the application, which takes longer than many a command; `migrate` and
    # `serve` make them.
    requires_system_checks = ()

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; raises `CommandError`."""
        if MigrationRecorder.Migration._meta.db_table not in connection.introspection.table_names():
            call_command("migrate", interactive=False, verbosity=0)
        try:
            return super().execute(*args, **options)
        except UserError as refused:
            raise CommandError(refused.message) from refused
