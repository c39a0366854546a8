"""`manage.py doctor`: list what is wrong with this server, and how to mend it."""

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from arqlab.web import counted
from contrib.operations.services.doctor import examine


class Command(BaseCommand):
    """List the faults of a server; change nothing."""

    help = (
        "List what is wrong with settings, services, queues, files, folders and backups, and how "
        "to mend it. Run it as the user of the server. The status is 1 if there is anything."
    )
    # It lists what they find, together with everything else.
    requires_system_checks = ()

    def handle(self, *args: object, **options: object) -> None:
        """Print each fault with what to do."""
        faults = list(examine(at=timezone.now()))
        for part, fault in faults:
            self.stdout.write(f"{part}: {fault.found}\n    {fault.todo}")
        if faults:
            raise CommandError(f"{counted(len(faults), 'fault')} found.")
        self.stdout.write("Nothing is wrong.")
