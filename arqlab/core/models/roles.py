"""The roles of people in a lab: how each is called, and what its people may do. Others ask here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db import models
from django.db.models import Q


@dataclass(frozen=True, slots=True)
class Rights:
    """What people of a role do, in words for the People page, and what they may do.

    - has_team: belongs to a team, and joins it by its invitation. Other roles are granted, and see
      the lab's tasks and topics before they open.
    - organizes: runs the lab, and gets the notices about its work.
    - observes: sees what organizers see, and changes nothing.
    - judges: may have topics and items to judge.
    - assesses: judges by default, before others in lists and choices.
    - looks_up: may search the lab's collection.
    - avoids_teams: may be in no team of the lab, and may not learn which systems take part, unless
      an organizer allows it.
    - audience: the messages to all of the lab that they get.
    """

    does: str
    has_team: bool = False
    organizes: bool = False
    observes: bool = False
    judges: bool = False
    assesses: bool = False
    looks_up: bool = False
    avoids_teams: bool = False
    audience: str = ""


class Role(models.TextChoices):
    """The roles of people in a lab, in the order in which pages list them."""

    ORGANIZER = "organizer", "Organizer"
    OBSERVER = "observer", "Observer"
    ASSESSOR = "assessor", "Assessor"
    MEMBER = "member", "Team member"

    @property
    def rights(self) -> Rights:
        """Return what people of the role may do."""
        return _RIGHTS[self]

    @property
    def plural(self) -> str:
        """Return the word for people of the role, such as `team members`."""
        return f"{self.label.lower()}s"

    @classmethod
    def that(cls, holds: Callable[[Rights], bool]) -> list[Role]:
        """Return the roles whose rights fulfil a condition."""
        return [role for role in cls if holds(role.rights)]

    @classmethod
    def granted(cls) -> list[Role]:
        """Return the roles that organizers grant; a team member joins by invitation."""
        return cls.that(lambda rights: not rights.has_team)

    @classmethod
    def judging(cls) -> list[Role]:
        """Return the roles whose people may judge."""
        return cls.that(lambda rights: rights.judges)

    @classmethod
    def organizing(cls) -> list[Role]:
        """Return the roles whose people run the lab."""
        return cls.that(lambda rights: rights.organizes)

    @classmethod
    def seeing_all(cls) -> list[Role]:
        """Return the roles whose people see all of the lab: those who run it, and observers."""
        return cls.that(lambda rights: rights.organizes or rights.observes)


_RIGHTS = {
    Role.ORGANIZER: Rights("run the lab", organizes=True, judges=True, looks_up=True),
    Role.OBSERVER: Rights("see what organizers see and change nothing", observes=True),
    Role.ASSESSOR: Rights(
        "judge items",
        judges=True,
        assesses=True,
        looks_up=True,
        avoids_teams=True,
        audience="assessors",
    ),
    Role.MEMBER: Rights("submit runs", has_team=True, audience="teams"),
}


def team_fits_role() -> Q:
    """Return the condition that a row has a team if its role belongs to one, and only then."""
    granted = [role.value for role in Role.granted()]
    in_team = [role.value for role in Role if role not in granted]
    return Q(role__in=in_team, team__isnull=False) | Q(role__in=granted, team__isnull=True)


def people_in_words(roles: list[Role]) -> str:
    """Return the people of some roles, such as `organizers and assessors`."""
    *first, last = (role.plural for role in roles)
    return f"{', '.join(first)} and {last}" if first else last


def duties() -> str:
    """Return a sentence on what the people of each role do."""
    *first, last = (f"{role.plural} {role.rights.does}" for role in Role)
    return f"{', '.join(first)}, and {last}.".capitalize()
