"""Queries about notices, mail and messages."""

from __future__ import annotations

from django.db.models import QuerySet

from arqlab.core.models import Lab, Membership, Team, User, Visitor
from arqlab.notices.models import Notice


def notices_of(user: User) -> QuerySet[Notice]:
    """Return a user's notices with their labs, newest first."""
    return user.notices.select_related("lab")


def unread_notices(user: Visitor) -> QuerySet[Notice]:
    """Return the notices that a user has not opened, with their labs; a visitor has none."""
    if not isinstance(user, User):
        return Notice.objects.none()
    return notices_of(user).filter(read_at=None)


def members_of(team: Team) -> QuerySet[User]:
    """Return the members of a team."""
    return User.objects.filter(memberships__team=team)


def people_with_role(lab: Lab, *roles: str) -> QuerySet[User]:
    """Return the users with one of the roles in a lab, each once, by name."""
    having = Membership.objects.filter(lab=lab, role__in=roles)
    return User.objects.filter(pk__in=having.values("user")).order_by("username")
