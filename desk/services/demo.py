"""The demo lab: an archive of a lab in the middle of its year, restored as if it were today's."""

import secrets
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.contrib.auth.hashers import make_password
from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Lab, User
from arqlab.labs.services.people import confirm_address
from desk.services.lab_archives import restore_lab

SLUG, OPEN_TASK = "demo", "task1-progress"
FOLDER = Path(__file__).parents[1] / "demo"
MADE_AT = datetime(2026, 11, 26, 14, 45, tzinfo=UTC)
"""When the archive was made. Nothing in it is later, but for deadlines."""
VISITOR = "visitor"
ACCOUNTS = {
    "organizer": "organizer",
    "assessor": "assessor",
    "assessor2": "assessor",
    VISITOR: "visitor",
    "mira": "member of NorthLake",
    "giulia": "member of EpsilonDelta",
    "ines": "member of LemmaHarvest",
    "amara": "member of Kaleidos",
    "dmitri": "member of PrimeIdeals",
}
"""The accounts to sign in with, and their roles in words."""


def new_password() -> str:
    """Return a random password of unambiguous letters and digits."""
    return "demo" + "".join(secrets.choice("abcdefghkmnpqrstuvwxyz23456789") for _ in range(8))


@transaction.atomic
def build_demo(*, folder: Path, password: str, at: datetime) -> Lab:
    """Restore the demo lab with the same password for all accounts, and copy the runs to try.

    Its times are moved by whole days, so that the newest is at most a day ago. Raises `UserError`
    if there is any lab, or an account of the demo's names.
    """
    if Lab.objects.exists():
        raise UserError(
            "This database has labs already. Build the demo lab in an empty one: set ARQLAB_DATA to"
            " another folder.",
            code="not-empty",
        )
    if existing := User.objects.filter(username__in=ACCOUNTS).first():
        raise UserError(
            f"The account {existing.username} exists already. Build the demo lab in an empty"
            " database: set ARQLAB_DATA to another folder.",
            code="account-exists",
        )
    before = set(User.objects.values_list("pk", flat=True))
    since = at - MADE_AT
    lab = restore_lab(FOLDER / "demo.zip", later=timedelta(days=since.days))
    address = f"{VISITOR}@demo.example"
    User.objects.create(username=VISITOR, first_name="Vera", last_name="Sandoval", email=address)
    people = User.objects.exclude(pk__in=before)
    people.update(password=make_password(password))  # once, because hashing is slow
    for person in people:
        confirm_address(user=person)
    for path in FOLDER.glob("try-*.tsv"):
        shutil.copyfile(path, folder / path.name)
    return lab
