"""`manage.py delete_account`: delete an account whose owner asks for it."""

from arqlab.accounts.services.personal import delete_account
from arqlab.labs.management.labcommand import LabCommand
from arqlab.labs.selectors import person_named


class Command(LabCommand):
    """Delete an account; its work stays with the labs, under a pseudonym."""

    arguments = {"person": {"metavar": "PERSON", "help": "email address or user name"}}

    def handle(self, *, person: str, **options: object) -> None:
        """Delete the account."""
        pseudonym = delete_account(user=person_named(person), by=None)
        self.stdout.write(f"The account is deleted. What stays has the name {pseudonym}.")
