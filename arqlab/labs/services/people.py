"""Changes of people and their roles in a lab."""

from allauth.account.models import EmailAddress
from django.db import transaction

from arqlab.audit.services.identity import Action, require_identity
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import ConfirmationError, UserError
from arqlab.core.models import Lab, Membership, Role, User
from arqlab.labs.permissions import refusal_of_both_sides
from arqlab.labs.services.memberships import store_memberships


@transaction.atomic
def grant_role(
    *, lab: Lab, user: User, role: str, by: User | None, confirmed: bool | str = False
) -> Membership:
    """Grant a user a role; nothing changes if they already have it.

    Raises `UserError` for the role of a team member, which users get by joining a team, and for an
    account without a confirmed address. Raises `ConfirmationError` if a team member would judge.
    `confirmed` is True, or the question of the earlier error.
    """
    granted = Role.granted()
    if role not in granted:
        raise UserError(
            f"You cannot grant the role {role!r}. Grant {' or '.join(granted)}; team members join "
            "through an invitation link.",
            code="unknown-role",
        )
    # Lock the user: joining a team at the same time waits.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    earlier = Membership.objects.filter(lab=lab, user=user, role=role, team=None).first()
    if earlier:
        return earlier
    if role in Role.seeing_all() and by is not None and by != user:
        require_identity(Action.GRANT_ORGANIZER, by=by, detail=f"{user.name} in {lab}")
    refused = refusal_of_both_sides(user, lab, role=role)
    if isinstance(refused, ConfirmationError) and confirmed not in (True, refused.question):
        raise refused
    both = {"may_join_team": True} if refused else {}
    membership = Membership(lab=lab, user=user, role=role, **both)
    store_memberships([membership])
    record_event("role.grant", user, by, lab=lab, role=role, **both)
    return membership


@transaction.atomic
def allow_team(*, lab: Lab, user: User, by: User) -> None:
    """Allow an assessor to be in a team of the lab; nothing changes for anyone else."""
    memberships = Membership.objects.filter(
        lab=lab, user=user, role__in=Role.that(lambda rights: rights.avoids_teams)
    )
    if memberships.filter(may_join_team=False).update(may_join_team=True):
        record_event("role.allow-team", user, by, lab=lab)


@transaction.atomic
def revoke_role(*, lab: Lab, user: User, role: str, by: User | None) -> None:
    """Revoke a role. Raise `UserError` if the user lacks it, or is the last organizer."""
    # Lock the lab, so that two organizers cannot revoke each other at the same time.
    Lab.objects.select_for_update().get(pk=lab.pk)
    if role in Role.organizing():
        require_another_organizer(lab, user)
    having = Membership.objects.filter(lab=lab, role=role, team=None)
    removed, _ = having.filter(user=user).delete()
    if not removed:
        raise UserError(
            f"{user.name} does not have the role {role} in {lab}. Reload the page to see roles.",
            code="no-such-role",
        )
    record_event("role.revoke", user, by, lab=lab, role=role)


def require_another_organizer(lab: Lab, user: User) -> None:
    """Raise `UserError` if nobody else organizes a lab, whose row the caller has locked."""
    organizers = Membership.objects.filter(lab=lab, role__in=Role.organizing(), team=None)
    if not organizers.exclude(user=user).exists():
        raise UserError(
            f"{user.name} is the last organizer of {lab}. Add another organizer first.",
            code="last-organizer",
        )


@transaction.atomic
def change_name(*, user: User, first_name: str, last_name: str) -> None:
    """Change a user's own name, as other people in their labs see it."""
    user.first_name, user.last_name = first_name, last_name
    user.save(update_fields=["first_name", "last_name"])
    record_event("person.rename", user, user)


@transaction.atomic
def confirm_address(*, user: User, by: User | None = None) -> str:
    """Confirm the address of a user's account; return it, or raise `UserError` if it has none."""
    if not user.email:
        raise UserError(
            f"The account {user.username} has no email address. Add one to it first.",
            code="no-address",
        )
    of_others = EmailAddress.objects.filter(email__iexact=user.email).exclude(user=user)
    if of_others.filter(verified=True).exists():
        raise UserError(
            f"Another account has confirmed {user.email}. Change the address of {user.username}.",
            code="address-taken",
        )
    address, created = EmailAddress.objects.get_or_create(
        user=user, email=user.email.lower(), defaults={"verified": True}
    )
    if created or address.set_verified():
        address.set_as_primary()
        record_event("person.confirm-address", user, by)
    return str(address.email)
