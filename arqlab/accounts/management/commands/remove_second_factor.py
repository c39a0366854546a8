"""`manage.py remove_second_factor`: let somebody in who has lost the second factor."""

from arqlab.accounts.services.personal import remove_second_factor
from arqlab.labs.management.labcommand import LabCommand
from arqlab.labs.selectors import person_named


class Command(LabCommand):
    """Remove the second factor of an account, for an owner who has lost it."""

    arguments = {"person": {"metavar": "PERSON", "help": "email address or user name"}}

    def handle(self, *, person: str, **options: object) -> None:
        """Remove the second factor."""
        user = person_named(person)
        removed = remove_second_factor(user=user)
        done = "was removed" if removed else "does not exist"
        self.stdout.write(f"The second factor of {user.name} {done}.")
