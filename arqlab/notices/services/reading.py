"""What users decide about their own notices: read, and whether to get mail."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from arqlab.core.models import User
from arqlab.core.services.audit import record_event
from arqlab.notices.models import MailOptOut, Notice


def mark_read(*, notices: Collection[int], at: datetime) -> None:
    """Mark notices as read; the time of the first reading is kept."""
    Notice.objects.unread().filter(pk__in=notices).update(read_at=at)


def mark_all_read(*, user: User, at: datetime) -> int:
    """Mark all notices of a user as read. Return how many were unread."""
    return user.notices.unread().update(read_at=at)


@transaction.atomic
def set_mail_preference(*, user: User, gets_mail: bool) -> None:
    """Turn a user's email on or off. Notices appear in the application in any case."""
    if gets_mail:
        changed, _ = MailOptOut.objects.filter(user=user).delete()
    else:
        _, changed = MailOptOut.objects.get_or_create(user=user)
    if changed:
        verb = "person.mail-on" if gets_mail else "person.mail-off"
        record_event(verb=verb, target=user, lab=None, actor=user)
