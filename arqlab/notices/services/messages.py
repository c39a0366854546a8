"""Messages of organizers to teams and assessors."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from arqlab.core.errors import UserError
from arqlab.core.models import Lab, User
from arqlab.core.services.audit import record_event
from arqlab.notices.models import Kind, Message, Notice
from arqlab.notices.selectors import message_recipients
from arqlab.notices.services.notifying import deliver


@transaction.atomic
def send_message(
    *, lab: Lab, audience: str, subject: str, text: str, key: UUID, by: User
) -> Message:
    """Send a message to an audience of a lab. A message sent twice with a `key` is sent once.

    Replies go to the sender. Raise `UserError` if nobody would get it.
    """
    people = list(message_recipients(lab, audience))
    if not people:
        raise UserError(
            f"{lab} has nobody to send this to. Choose other recipients, or invite people first.",
            code="no-recipients",
        )
    message, created = Message.objects.get_or_create(
        key=key,
        defaults={
            "lab": lab,
            "audience": audience,
            "subject": subject,
            "text": text,
            "sent_by": by,
            "sent_at": timezone.now(),
        },
    )
    if created:
        draft = Notice(lab=lab, kind=Kind.MESSAGE, subject=subject, text=text, message=message)
        draft.key = f"message {message.pk}"
        deliver(draft=draft, people=people, reply_to=by.email)
        record_event(
            verb="message.send",
            target=message,
            lab=lab,
            actor=by,
            audience=message.get_audience_display(),
            recipients=len(people),
        )
    return message
