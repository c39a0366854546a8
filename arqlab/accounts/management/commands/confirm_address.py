"""`manage.py confirm_address`: confirm the address of an account where no email is sent."""

from arqlab.labs.management.labcommand import LabCommand
from arqlab.labs.selectors import person_named
from arqlab.labs.services.people import confirm_address


class Command(LabCommand):
    """Confirm the email address of an account, as the link in an email would."""

    arguments = {"person": {"metavar": "PERSON", "help": "email address or user name"}}

    def handle(self, *, person: str, **options: object) -> None:
        """Confirm the address."""
        address = confirm_address(user=person_named(person))
        self.stdout.write(f"{address} is confirmed.")
