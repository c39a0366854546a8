"""The only place where memberships are made, by whichever page, command, file or API."""

from collections.abc import Collection

from arqlab.core.models import Membership
from arqlab.labs.permissions import refusal_of_membership


def store_memberships(memberships: Collection[Membership]) -> None:
    """Store new memberships. Raise `UserError` for an account without a confirmed address."""
    for membership in memberships:
        if refused := refusal_of_membership(membership.user):
            raise refused
    Membership.objects.bulk_create(memberships)
