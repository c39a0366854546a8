"""Invitations by email to a role or a team. Each link works once."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone

from arqlab.audit.services.identity import Action, require_identity
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Membership, Role, Team, User
from arqlab.labs.services.archiving import require_unarchived
from arqlab.labs.services.people import confirm_address, grant_role
from arqlab.notices.models import Invitation, Kind
from arqlab.notices.services.notifying import new_mail
from arqlab.notices.services.texts import text_of
from arqlab.teams.services import create_team, join_team


class Invited(NamedTuple):
    """The new invitations, and the addresses that were left out."""

    new: list[Invitation]
    waiting: list[str]
    """Addresses that already have an open invitation to the role."""
    having: list[str]
    """Addresses of users who already have the role."""


@transaction.atomic
def invite_people(
    *, lab: Lab, addresses: Collection[str], role: str, team: Team | None, by: User
) -> Invited:
    """Invite addresses to a role, or to a team as its members, and queue their mail.

    Who invites organizers or observers confirms who they are (`require_identity`).
    """
    if role in Role.seeing_all():
        require_identity(Action.GRANT_ORGANIZER, by=by, detail=f"{', '.join(addresses)} in {lab}")
    # Lock the lab: of two organizers who invite at once, the second must see the first's.
    Lab.objects.select_for_update().get(pk=lab.pk)
    sought = {"lab": lab, "role": role, "team": team}
    open_ones = Invitation.objects.filter(**sought, accepted_at=None, withdrawn_at=None)
    waiting = set(open_ones.values_list(Lower("address"), flat=True))
    members = Membership.objects.filter(**sought)
    having = set(members.values_list(Lower("user__email"), flat=True))
    once = {address.lower(): address for address in addresses}
    now = timezone.now()
    new = [
        Invitation.objects.create(**sought, address=address, invited_by=by, invited_at=now)
        for key, address in once.items()
        if key not in waiting | having
    ]
    for invitation in new:
        _queue_mail(invitation, by=by, at=now)
    if new:
        what, invited = f"{len(new)} as {new[0].words}", [invitation.address for invitation in new]
        record_event("invitation.create", what, by, lab=lab, addresses=invited)
    not_invited = [(key, address) for key, address in once.items() if key in waiting | having]
    return Invited(
        new,
        [address for key, address in not_invited if key not in having],
        [address for key, address in not_invited if key in having],
    )


@transaction.atomic
def invite_new_team(
    *, lab: Lab, addresses: Collection[str], name: str, by: User, confirmed: bool | str = False
) -> Invited:
    """Create a team without members and invite addresses to it. Raises as `create_team` does."""
    team = create_team(lab=lab, name=name, by=by, joins=False, confirmed=confirmed)
    role = Membership.Role.MEMBER
    return invite_people(lab=lab, addresses=addresses, role=role, team=team, by=by)


@transaction.atomic
def resend_invitation(*, invitation: Invitation, by: User) -> None:
    """Send the email of an invitation again. Raise `UserError` if it is not open, or no email."""
    if not settings.SENDS_MAIL:
        raise UserError(
            "This server sends no email. Copy the link and send it yourself.", code="no-mail"
        )
    # Lock the invitation: it may be accepted or withdrawn at this moment.
    locked = Invitation.objects.select_for_update(of=("self",)).get(pk=invitation.pk)
    _require_open(locked)
    _queue_mail(locked, by=by, at=timezone.now())
    record_event("invitation.resend", locked, by)


@transaction.atomic
def withdraw_invitation(*, invitation: Invitation, by: User) -> None:
    """Withdraw an invitation; its link stops working. Raise `UserError` if it is not open."""
    if not _close(invitation, withdrawn_at=timezone.now()):
        _require_open(Invitation.objects.get(pk=invitation.pk))
    record_event("invitation.withdraw", invitation, by)


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User) -> None:
    """Grant a user the role of an invitation, or add them to its team.

    Only an account with the address that it was sent to can accept it, once. Raise `UserError` if
    the user has not confirmed this address, the invitation is not open, or its lab is archived.
    """
    require_unarchived(invitation.lab)
    _require_open(invitation)
    _require_address(invitation, user)
    if not _close(invitation, accepted_at=timezone.now(), accepted_by=user):
        _require_open(Invitation.objects.get(pk=invitation.pk))
    if invitation.team:
        join_team(team=invitation.team, user=user)
    else:
        grant_role(lab=invitation.lab, user=user, role=invitation.role, by=invitation.invited_by)
    record_event("invitation.accept", invitation, user)


def _require_address(invitation: Invitation, user: User) -> None:
    """Raise `UserError` unless a user has the address of an invitation.

    The secret link confirms the address of an account: it was sent there by email, or passed on by
    an organizer who knows the person.
    """
    address = invitation.address
    confirmed = EmailAddress.objects.filter(user=user, email__iexact=address, verified=True)
    if confirmed.exists():
        return
    if user.email.lower() == address.lower():
        confirm_address(user=user)
        return
    raise UserError(
        f"This invitation is for {address}. Sign in with an account that has confirmed this "
        "address, or add it to your account and confirm it. Or ask the organizers to invite the "
        "address of your account.",
        code="other-address",
    )


def _close(invitation: Invitation, **fields: object) -> int:
    """Close an invitation if it is open. Return the number of closed invitations."""
    waiting = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None)
    return waiting.update(**fields)


def _require_open(invitation: Invitation) -> None:
    if invitation.accepted_at:
        raise UserError(
            "This invitation has already been used. Ask the organizers for a new one.",
            code="accepted",
        )
    if invitation.withdrawn_at:
        raise UserError(
            "This invitation was withdrawn. Ask the organizers for a new one.", code="withdrawn"
        )


def _queue_mail(invitation: Invitation, *, by: User, at: datetime) -> None:
    """Queue the email of an invitation, if this server sends mail."""
    if not settings.SENDS_MAIL:
        return
    lab = invitation.lab
    text = text_of(lab, Kind.INVITATION).filled(
        {"lab": lab.name, "person": by.name, "role": invitation.words_with_article}
    )
    link = settings.SITE_URL + reverse("notices:invitation-accept", args=[invitation.token])
    invitation.mail = new_mail(
        lab=lab,
        address=invitation.address,
        subject=text.subject,
        text=f"{text.text.strip()}\n\n{link}\n",
        at=at,
        reply_to=by.email,
    )
    invitation.mail.save()
    invitation.save(update_fields=["mail"])
