"""`manage.py migrate`: Django's command, in one transaction, on a database that is ArqLab's."""

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection
from django.utils import timezone

from arqlab.core.errors import UserError
from arqlab.core.services.schema import require_own_schema
from desk.services.upgrading import copy_before_upgrade, upgrade_in_one_transaction

AS_DJANGO = ("plan", "check_unapplied", "prune", "fake", "fake_initial")
"""The options with which Django's command runs no migration, or not all of one."""

FAILED = (
    "The upgrade failed, and the database is as it was. Start the version that ran before, and"
    " report this."
)


class Command(migrate.Command):
    """Migrate the database: all of it, or nothing."""

    help = (
        "Migrate the database in one transaction, if its tables are those that its migrations "
        "make. SQLite's is copied first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the option that makes no copy."""
        super().add_arguments(parser)
        parser.add_argument(
            "--no-copy", action="store_true", help="make no copy of SQLite's database"
        )

    def handle(self, *args: object, **options: object) -> None:
        """Check the schema, copy it, migrate it, and check it again."""
        if options["database"] != DEFAULT_DB_ALIAS or any(options[name] for name in AS_DJANGO):
            super().handle(*args, **options)
            return
        try:
            require_own_schema(connection)
            copy = None if options["no_copy"] else copy_before_upgrade(at=timezone.now())
        except UserError as refused:
            raise CommandError(f"Nothing was migrated. {refused.message}") from refused
        about_copy = ""
        if copy:
            self.stdout.write(f"The database before this upgrade: {copy}")
            self.stdout.flush()
            about_copy = f" A copy of it is {copy}."
        try:
            with upgrade_in_one_transaction():
                super().handle(*args, **options)
        except (DatabaseError, UserError) as error:
            raise CommandError(f"{FAILED}{about_copy} The reason: {error}") from error
        except Exception:  # a mistake of ours keeps its traceback
            self.stderr.write(f"{FAILED}{about_copy}")
            raise

    def migration_progress_callback(
        self, action: str, migration: object = None, fake: bool = False
    ) -> None:
        """Print the progress, and check foreign keys before the next migration changes a table."""
        if action in ("apply_success", "unapply_success") and connection.vendor == "postgresql":
            connection.check_constraints()
        super().migration_progress_callback(action, migration, fake)
