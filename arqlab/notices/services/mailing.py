"""Messages of organizers, and queued mail. One UPDATE claims an email; it is sent at most once."""

import logging
import time
from datetime import datetime, timedelta
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPResponseException
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.utils import timezone

from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, User
from arqlab.notices.models import Kind, Mail, Message, Notice
from arqlab.notices.selectors import message_recipients
from arqlab.notices.services.notifying import deliver

log = logging.getLogger(__name__)
PAUSES = [timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 480)]
"""The pauses after failed attempts. After the last one the email has failed."""
REFUSALS = (SMTPRecipientsRefused, SMTPDataError)
"""The errors that concern one email. All other errors of SMTP concern the mail server."""
CLAIM = timedelta(minutes=10)
INTERRUPTED = (
    "The server stopped while it sent this email. It may have been delivered, so it was not sent "
    "again."
)


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
            f"{lab} has no such recipients. Choose other recipients, or invite people first.",
            code="no-recipients",
        )
    fields = {"lab": lab, "audience": audience, "subject": subject, "text": text}
    fields |= {"sent_by": by, "sent_at": timezone.now()}
    message, created = Message.objects.get_or_create(key=key, defaults=fields)
    if created:
        draft = Notice(lab=lab, kind=Kind.MESSAGE, subject=subject, text=text, message=message)
        draft.key = f"message {message.pk}"
        deliver(draft=draft, people=people, reply_to=by.email)
        to = message.get_audience_display()
        record_event("message.send", message, by, audience=to, recipients=len(people))
    return message


def send_queued_mail(*, at: datetime, seconds: float) -> int:
    """Send queued mail for a few seconds and return how many emails were sent.

    Without a mail server, the mail stays queued: Django would store it and report it as sent.

    One connection carries all of it. If the mail server cannot be used, the rest of the mail waits,
    so that only one email tries.
    """
    if not settings.SENDS_MAIL:
        return 0
    stale = Mail.objects.filter(state=Mail.State.SENDING, changed_at__lt=at - CLAIM)
    stale.update(state=Mail.State.FAILED, changed_at=at, error=INTERRUPTED)
    end, sent = time.monotonic() + seconds, 0
    waiting = Mail.objects.filter(state=Mail.State.QUEUED, due_at__lte=at).order_by("due_at", "pk")
    connection = get_connection() if waiting.exists() else None
    while connection and time.monotonic() < end and (mail := waiting.first()):
        if not _claim(mail, at):
            continue
        error = _send(mail, connection)
        _store_result(mail, error, at)
        sent += error is None
        if isinstance(error, OSError) and not isinstance(error, REFUSALS):
            waiting.update(due_at=at + PAUSES[0])
    if connection:
        connection.close()
    return sent


@transaction.atomic
def retry_mail(*, mail: Mail, at: datetime, by: User) -> None:
    """Queue a failed email again. Raise `UserError` if it has not failed."""
    failed = Mail.objects.filter(pk=mail.pk, state=Mail.State.FAILED)
    if not failed.update(state=Mail.State.QUEUED, attempts=0, due_at=at, changed_at=at):
        raise UserError(
            "This email has not failed. Reload the page to see its state.", code="not-failed"
        )
    record_event("mail.retry", mail, by)


def _claim(mail: Mail, at: datetime) -> bool:
    """Claim an email for sending. Return False if another worker was first."""
    waiting = Mail.objects.filter(pk=mail.pk, state=Mail.State.QUEUED, attempts=mail.attempts)
    mail.attempts += 1
    return bool(waiting.update(state=Mail.State.SENDING, attempts=mail.attempts, changed_at=at))


def _send(mail: Mail, connection: BaseEmailBackend) -> Exception | None:
    """Send one email. Return the error, or None if the mail server accepted it."""
    message = EmailMessage(
        mail.subject,
        mail.text,
        to=[mail.address],
        reply_to=[mail.reply_to] if mail.reply_to else None,
        headers={"Auto-Submitted": "auto-generated"},
        connection=connection,
    )
    try:
        connection.open()  # kept open for the next email, which Django would not do
        message.send()
    except Exception as error:  # noqa: BLE001 - every error is logged with the email
        log.warning("Email %s was not sent: %s", mail.pk, _reason(error))
        connection.close()
        return error
    return None


def _store_result(mail: Mail, error: Exception | None, at: datetime) -> None:
    """Store the result of an attempt; queue the email again unless it was sent or has failed."""
    sending = Mail.objects.filter(pk=mail.pk, state=Mail.State.SENDING)
    claimed = sending.filter(attempts=mail.attempts, changed_at=at)
    if error is None:
        claimed.update(state=Mail.State.SENT, error="")
    elif mail.attempts > len(PAUSES) or _is_permanent(error):
        claimed.update(state=Mail.State.FAILED, error=_reason(error))
    else:
        due_at = at + PAUSES[mail.attempts - 1]
        claimed.update(state=Mail.State.QUEUED, error=_reason(error), due_at=due_at)


def _is_permanent(error: Exception) -> bool:
    """Return whether the mail server refused the email for good (5xx)."""
    if isinstance(error, SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, SMTPDataError) and error.smtp_code >= 500


def _reason(error: Exception) -> str:
    """Return an error in words."""
    if isinstance(error, SMTPRecipientsRefused):
        return "; ".join(_reply(code, text) for code, text in error.recipients.values())
    if isinstance(error, SMTPResponseException):
        return _reply(error.smtp_code, error.smtp_error)
    return f"{type(error).__name__}: {error}"


def _reply(code: int, text: bytes | str) -> str:
    return f"{code} {text.decode(errors='replace') if isinstance(text, bytes) else text}"
