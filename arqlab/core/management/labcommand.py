"""The base class of commands on labs."""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from arqlab.core.errors import UserError


class LabCommand(BaseCommand):
    """A command that works on labs.

    It creates the tables of an empty database, so that it can be the first command ever run; a
    database with tables is left to `manage.py migrate`. The message of a `UserError` becomes the
    command's.
    """

    # System checks import all views, which takes longer than most commands; `migrate` and `serve`
    # run them.
    requires_system_checks = ()

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; raise `CommandError` with the message of a `UserError`."""
        if MigrationRecorder.Migration._meta.db_table not in connection.introspection.table_names():
            call_command("migrate", interactive=False, verbosity=0)
        try:
            return super().execute(*args, **options)
        except UserError as refused:
            raise CommandError(refused.message) from refused
