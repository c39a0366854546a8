"""What changes teams and who belongs to them."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Membership, Team, User, new_invitation_token
from arqlab.core.services.audit import record_event


@transaction.atomic
def create_team(*, lab: Lab, name: str, by: User | None, joins: bool = True) -> Team:
    """Make a team; the person who makes it becomes its first member, unless `joins` is false
    (baselines, tests, loading).

    Raises `UserError` when the lab has a team of that name, upper or lower case alike.
    """
    try:
        with transaction.atomic():
            team = Team.objects.create(lab=lab, name=name)
    except IntegrityError as error:
        raise UserError(
            f"{lab} has a team named {name} already. Take another name, or ask that team for its invitation link.",
            code="team-name-taken",
        ) from error
    record_event(verb="team.create", target=team, lab=lab, actor=by)
    if by is not None and joins:
        _add_member(team, by)
    return team


@transaction.atomic
def join_team(*, team: Team, user: User) -> Membership:
    """Make a person a member of a team; who is a member already stays one."""
    return _add_member(team, user)


@transaction.atomic
def leave_team(*, team: Team, user: User) -> None:
    """Take oneself out of a team. A team without members and runs is deleted.

    Raises `UserError` when the person is no member, or the last one of a team that has runs.
    """
    _drop_member(team, user, by=user)


@transaction.atomic
def remove_member(*, team: Team, user: User, by: User) -> None:
    """Take a person out of a team, as an organizer may. Raises as `leave_team` does."""
    _drop_member(team, user, by=by)


@transaction.atomic
def renew_invitation(*, team: Team, by: User) -> Team:
    """Return the team a new invitation link; the old one leads nowhere from now on."""
    team.invitation_token = new_invitation_token()
    team.save(update_fields=["invitation_token"])
    record_event(verb="team.renew-invitation", target=team, lab=team.lab, actor=by)
    return team


def _add_member(team: Team, user: User) -> Membership:
    membership, created = Membership.objects.get_or_create(
        lab=team.lab, team=team, user=user, role=Membership.Role.MEMBER
    )
    if created:
        record_event(verb="team.join", target=team, lab=team.lab, actor=user)
    return membership


def _drop_member(team: Team, user: User, *, by: User) -> None:
    Team.objects.select_for_update().get(
        pk=team.pk
    )  # of two last members who leave at once, one must be the last
    removed, _ = Membership.objects.filter(team=team, user=user).delete()
    if not removed:
        raise UserError(
            f"{user.name} is no member of {team}. Reload the page to see who is.",
            code="no-such-member",
        )
    verb = "team.leave" if by == user else "team.remove-member"
    record_event(verb=verb, target=team, lab=team.lab, actor=by, person=user.get_username())
    if not Membership.objects.filter(team=team).exists():
        _delete_team(team, user, by=by)


def _delete_team(team: Team, last_member: User, *, by: User) -> None:
    """Delete a team that nobody is in; the database refuses that for one that submitted runs."""
    name, lab = team.name, team.lab
    try:
        team.delete()
    except ProtectedError as error:
        raise UserError(
            f"{last_member.name} is the last member of {name}, and {name} has runs that somebody must answer for. "
            "Invite another member first.",
            code="last-member",
        ) from error
    record_event(verb="team.delete", target=name, lab=lab, actor=by)
