"""Who may create and see teams: a function for each question."""

from django.conf import settings
from django.shortcuts import get_object_or_404

from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Membership, Team, User, Visitor
from arqlab.core.permissions import allowed
from arqlab.labs.permissions import has_verified_address, may_organize


def is_team_member(user: Visitor, team: Team) -> bool:
    """Return whether a user is a member of a team."""
    return user.is_authenticated and Membership.objects.filter(team=team, user_id=user.pk).exists()


def refusal_of_new_team(user: User, lab: Lab) -> UserError | None:
    """Return why a user may not create a team in a lab, or None if they may.

    Each team gets scores, so a person with many teams could infer the judgments from them. Every
    entry point that creates a team asks this, by `create_team`.
    """
    if may_organize(user, lab):
        return None
    if not has_verified_address(user):
        todo = (
            "Open the link in the email that we sent you when you signed up, or send it again from"
            " your account page."
            if settings.SENDS_MAIL
            else "This server sends no email, so ask its administrator to confirm your address."
        )
        return UserError(
            f"Confirm your email address before you create a team. {todo}",
            code="unconfirmed-address",
        )
    if team := lab.teams.filter(created_by=user).first():
        return UserError(
            f"You already created {team} in {lab}. A person creates one team per lab. To take part "
            "with another team, ask it for its invitation link, or ask the organizers.",
            code="one-team",
        )
    return None


def may_see_team(user: Visitor, team: Team) -> bool:
    """Return whether a user may see the team: its members and the organizers may."""
    return is_team_member(user, team) or may_organize(user, team.lab)


def team_or_404(user: Visitor, lab_slug: str, team_id: int) -> Team:
    """Return the team with its lab for its members and organizers; raise 404 for anyone else."""
    team = get_object_or_404(Team.objects.select_related("lab"), lab__slug=lab_slug, pk=team_id)
    return allowed(team, may_see_team(user, team))
