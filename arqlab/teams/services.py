"""Changes of teams and their members."""

from collections.abc import Iterable, Mapping

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from arqlab.audit.services.recording import record_event, save_changes
from arqlab.core.errors import ConfirmationError, UserError
from arqlab.core.models import Lab, Membership, Team, User, new_invitation_token
from arqlab.labs.permissions import refusal_of_both_sides
from arqlab.labs.services.memberships import store_memberships
from arqlab.teams.permissions import refusal_of_new_team
from arqlab.teams.selectors import team_key


@transaction.atomic
def create_team(
    *, lab: Lab, name: str, by: User | None, joins: bool = True, confirmed: bool | str = False
) -> Team:
    """Create a team with `by` as its first member, unless `joins` is False.

    Baselines, tests and lab folders create teams without members. Raises `UserError` if `by` may
    not create a team, or the lab has a team with that name, ignoring case, and `ConfirmationError`
    as `rename_team` does.
    """
    if by is not None:
        # Of two requests at the same time, one is the first.
        User.objects.select_for_update().get(pk=by.pk)
        if refused := refusal_of_new_team(by, lab):
            raise refused
    team = Team(lab=lab, name=name, created_by=by)
    _save_name(team, confirmed=confirmed)
    record_event("team.create", team, by)
    if by is not None and joins:
        join_team(team=team, user=by)
    return team


def lab_team(lab: Lab) -> Team:
    """Return the team without members to which the baselines belong; create a missing one."""
    if team := lab.teams.filter(is_lab=True).first():
        return team
    used_names = {name.casefold() for name in lab.teams.values_list("name", flat=True)}
    names = ("Baselines", "Baselines of the lab", f"Baselines of {lab.slug}")
    name = next(candidate for candidate in names if candidate.casefold() not in used_names)
    return Team.objects.create(lab=lab, name=name, is_lab=True)


@transaction.atomic
def rename_team(*, team: Team, name: str, by: User, confirmed: bool | str = False) -> None:
    """Rename a team; nothing changes if it already has the name.

    Raises `UserError` if another team of the lab has the name, ignoring case, and
    `ConfirmationError` if the names differ only in spaces and punctuation. `confirmed` is True, or
    the question of the earlier error.
    """
    earlier = Team.objects.get(pk=team.pk).name
    if name == earlier:
        return
    team.name = name
    _save_name(team, confirmed=confirmed)
    record_event("team.rename", team, by, earlier=earlier)


@transaction.atomic
def describe_team(*, team: Team, details: Mapping[str, str], by: User) -> None:
    """Store the affiliation and the publication of a team (`Team.DETAILS`)."""
    # Lock the team: the log must record the values that these replace.
    locked = Team.objects.select_for_update().get(pk=team.pk)
    changes = save_changes(locked, details, allowed=Team.DETAILS)
    if changes:
        record_event("team.change", team, by, changes=changes)


@transaction.atomic
def join_team(*, team: Team, user: User) -> Membership:
    """Add a user to a team, once.

    Raise `UserError` if they are an assessor of the lab or have confirmed no address.
    """
    # Lock the user: getting a role at the same time waits.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if earlier := Membership.objects.filter(team=team, user=user).first():
        return earlier
    if team.is_lab:
        raise UserError(
            f"{team} is {team.lab} itself, which has no members. Its organizers submit for it.",
            code="team-is-lab",
        )
    if refused := refusal_of_both_sides(user, team.lab, role=Membership.Role.MEMBER):
        raise refused
    membership = Membership(lab=team.lab, team=team, user=user, role=Membership.Role.MEMBER)
    store_memberships([membership])
    record_event("team.join", team, user)
    return membership


@transaction.atomic
def leave_team(*, team: Team, user: User, by: User) -> None:
    """Remove a member from a team, by themselves or an organizer.

    A team without members and runs is deleted. Raises `UserError` if the user is not a member, or
    is the last member of a team with runs.
    """
    # Lock the team, so that of two members who leave at the same time, one is the last.
    Team.objects.select_for_update().get(pk=team.pk)
    removed, _ = Membership.objects.filter(team=team, user=user).delete()
    if not removed:
        raise UserError(
            f"{user.name} is not a member of {team}. Reload the page to see its members.",
            code="no-such-member",
        )
    verb = "team.leave" if by == user else "team.remove-member"
    record_event(verb, team, by, person=user.get_username())
    if Membership.objects.filter(team=team).exists():
        return
    name, lab = team.name, team.lab
    try:
        team.delete()
    except ProtectedError as error:  # the team has submitted runs
        raise UserError(
            f"{user.name} is the last member of {name}, which has runs. Invite another member "
            "first.",
            code="last-member",
        ) from error
    record_event("team.delete", name, by, lab=lab)


@transaction.atomic
def renew_invitation(*, team: Team, by: User) -> Team:
    """Replace the team's invitation link; the old link stops working."""
    team.invitation_token = new_invitation_token()
    team.save(update_fields=["invitation_token"])
    record_event("team.renew-invitation", team, by)
    return team


def _save_name(team: Team, *, confirmed: bool | str) -> None:
    """Store a new or changed name, unless another team of the lab has it or a similar one.

    Raise `UserError` for an empty name, and for one that is longer than the database takes.
    """
    most = Team._meta.get_field("name").max_length or 0
    if not team.name.strip() or len(team.name) > most:
        raise UserError(
            f"The name of a team has 1 to {most} characters; found {len(team.name)}:"
            f" {team.name[:most]!r}. Choose a shorter name.",
            code="team-name",
        )
    others = team.lab.teams.exclude(pk=team.pk)
    if not others.filter(name__iexact=team.name).exists():
        _require_distinct_name(team, others, confirmed=confirmed)
    try:
        with transaction.atomic():
            team.save(update_fields=["name"] if team.pk else None)
    except IntegrityError as error:
        raise UserError(
            f"{team.lab} already has a team named {team.name}. Choose another name, or ask the "
            "team for its invitation link.",
            code="team-name-taken",
        ) from error


def _require_distinct_name(team: Team, others: Iterable[Team], *, confirmed: bool | str) -> None:
    similar = [other.name for other in others if team_key(other.name) == team_key(team.name)]
    if not similar or confirmed is True:
        return
    names = ", ".join(similar)
    question = f"{team.name} is not the same team as {names}"
    if confirmed != question:
        raise ConfirmationError(
            f"{team.lab} already has a team named {names}. If {team.name} is another team, confirm"
            " it. Otherwise ask the team for its invitation link, or choose another name.",
            code="team-name-similar",
            question=question,
        )
