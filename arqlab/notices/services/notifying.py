"""Notices to users, written in the transaction of the event, and the mail that carries them."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from arqlab.audit.services.recording import record_event
from arqlab.core.models import Lab, Task, User
from arqlab.notices.models import Mail, MailOptOut, Notice
from arqlab.notices.selectors import gets_mail
from arqlab.notices.services.texts import text_of

ABOUT = """-- 
You receive this email because you take part in {lab}. To turn off email:
{address}"""  # noqa: W291 - mail programs know a signature by the space


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
        record_event(verb, user, user)


@transaction.atomic
def notify(
    about: Lab | Task, kind: str, people: Iterable[User], *, path: str, key: str, **values: str
) -> list[Notice]:
    """Notify users of an event by the text of its kind; return the new notices.

    Call it in the transaction of the event. A user who was notified with this `key` is not notified
    again. The names of lab and task are among the values of the text.
    """
    lab, task = (about.lab, {"task": about.name}) if isinstance(about, Task) else (about, {})
    filled = text_of(lab, kind).filled({"lab": lab.name, **task, **values})
    draft = Notice(lab=lab, kind=kind, path=path, key=key, text=filled.text, subject=filled.subject)
    return deliver(draft=draft, people=people)


def deliver(*, draft: Notice, people: Iterable[User], reply_to: str = "") -> list[Notice]:
    """Store a copy of a notice for each user who has none with its key, and queue its mail."""
    recipients = {person.pk: person for person in people if person.is_active}
    already_notified = Notice.objects.filter(key=draft.key, user__in=recipients).values_list(
        "user", flat=True
    )
    for pk in already_notified:
        del recipients[pk]
    draft.subject, now = " ".join(draft.subject.split())[:300], timezone.now()
    mails = _queue_notice_mails(draft, recipients, reply_to=reply_to, at=now)
    names = ("lab", "kind", "subject", "text", "path", "key", "message")
    same: dict[str, object] = {name: getattr(draft, name) for name in names} | {"created_at": now}
    return Notice.objects.bulk_create(
        Notice(user=person, mail=mails.get(pk), **same) for pk, person in recipients.items()
    )


def new_mail(
    *, lab: Lab, address: str, subject: str, text: str, at: datetime, reply_to: str = ""
) -> Mail:
    """Return an unsaved queued email."""
    return Mail(
        lab=lab,
        address=address,
        subject=" ".join(subject.split())[:300],
        text=text,
        due_at=at,
        changed_at=at,
        reply_to=reply_to,
    )


def _queue_notice_mails(
    draft: Notice, people: Mapping[int, User], *, reply_to: str, at: datetime
) -> dict[int, Mail]:
    """Queue the mail of a notice to the users who get mail. Return it by user."""
    if not settings.SENDS_MAIL:
        return {}
    with_mail = set(gets_mail(User.objects.filter(pk__in=people)).values_list("pk", flat=True))
    subject, text = f"[{draft.lab.name}] {draft.subject}", _mail_text(draft)
    mails = {
        pk: new_mail(
            address=person.email,
            reply_to=reply_to,
            lab=draft.lab,
            subject=subject,
            text=text,
            at=at,
        )
        for pk, person in people.items()
        if pk in with_mail
    }
    Mail.objects.bulk_create(mails.values())
    return mails


def _mail_text(draft: Notice) -> str:
    """Return the text of a notice with the link to its page and how to turn off email."""
    link = [settings.SITE_URL + draft.path] if draft.path else []
    about = ABOUT.format(
        lab=draft.lab.name, address=settings.SITE_URL + reverse("accounts:account")
    )
    return "\n\n".join([draft.text.strip(), *link, about]) + "\n"
