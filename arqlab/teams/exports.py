"""The files of teams and of the audit log that labs hand out."""

import json
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import NamedTuple

from arqkit.formats.tables import tsv_lines
from arqlab.core.exports import Audience, Export, declare_exports
from arqlab.core.models import AuditEvent, Lab, Membership, Team
from arqlab.core.models.reading import rows_in_chunks
from arqlab.teams.selectors import teams_with_members

MEMBER_COLUMNS: dict[str, Callable[["TeamMember"], object]] = {
    "team": attrgetter("team.name"),
    "affiliation": attrgetter("team.affiliation"),
    "paper": attrgetter("team.paper"),
    "code": attrgetter("team.code"),
    "citation": attrgetter("team.citation"),
    "member": lambda row: row.membership and row.membership.user.name,
    "email": lambda row: row.membership and row.membership.user.email,
    "since": lambda row: row.membership and row.membership.created_at,
}
EVENT_COLUMNS: dict[str, Callable[[AuditEvent], object]] = {
    "at": attrgetter("at"),
    "by": lambda event: event.actor and event.actor.username,
    "event": attrgetter("verb"),
    "target": attrgetter("target"),
    "detail": lambda event: json.dumps(event.detail, ensure_ascii=False),
}


class TeamMember(NamedTuple):
    """A team with a member, or without one if it has none."""

    team: Team
    membership: Membership | None


def _teams(lab: Lab) -> Iterable[bytes]:
    """Yield a line for each member, and one for a team without members."""
    rows = (
        TeamMember(team, member)
        for team in teams_with_members(lab)
        for member in tuple(team.memberships.all()) or (None,)
    )
    return tsv_lines(MEMBER_COLUMNS, rows)


def _audit(lab: Lab) -> Iterable[bytes]:
    events = lab.audit_events.select_related("actor")
    return tsv_lines(EVENT_COLUMNS, rows_in_chunks(events))


declare_exports(
    labs=[
        Export("teams.tsv", "Teams and their members.", Audience.ORGANIZERS, _teams),
        # Names runs by their keys on this server; the tables of an archive have all of it.
        Export("audit.tsv", "The audit log.", Audience.ORGANIZERS, _audit, is_archived=False),
    ]
)
