"""Queued mail is sent once, tried again after errors, and logged."""

from datetime import UTC, datetime, timedelta
from smtplib import SMTPAuthenticationError, SMTPDataError, SMTPRecipientsRefused
from unittest.mock import Mock

import pytest
from django.core import mail as outbox
from django.core.mail.backends.locmem import EmailBackend

from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent
from arqlab.notices.models import Mail
from arqlab.notices.services import mailing
from arqlab.notices.services.mailing import CLAIM, PAUSES, retry_mail, send_queued_mail
from arqlab.notices.services.notifying import new_mail
from arqlab.notices.tasks import send_mail

AT = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def sends_mail(settings):
    settings.SENDS_MAIL = True


@pytest.fixture
def queue(lab):
    """Return a function that queues an email to an address."""

    def queue(address="ada@example.org", **fields):
        mail = new_mail(lab=lab, address=address, subject="Hello", text="A text.\n", at=AT)
        for name, value in fields.items():
            setattr(mail, name, value)
        mail.save()
        return mail

    return queue


@pytest.fixture
def fail(monkeypatch):
    """Return a function that lets the mail server fail for addresses, and the tried addresses."""
    tried = []

    def fail(error, *addresses):
        send = EmailBackend.send_messages

        def refuse(self, messages):
            tried.append(messages[0].to[0])
            if not addresses or messages[0].to[0] in addresses:
                raise error
            return send(self, messages)

        monkeypatch.setattr(EmailBackend, "send_messages", refuse)
        return tried

    return fail


def refusal(code: int) -> SMTPRecipientsRefused:
    return SMTPRecipientsRefused({"ada@example.org": (code, b"No such user")})


def send(at: datetime = AT) -> int:
    return send_queued_mail(at=at, seconds=60)


def test_queued_mail_is_sent_once(queue, settings):
    settings.DEFAULT_FROM_EMAIL = "lab@example.org"
    mail = queue(reply_to="chair@example.org")

    assert [send(), send()] == [1, 0]
    [message] = outbox.outbox
    assert (message.to, message.from_email) == (["ada@example.org"], "lab@example.org")
    assert (message.subject, message.body) == ("Hello", "A text.\n")
    assert message.reply_to == ["chair@example.org"]
    assert message.extra_headers == {"Auto-Submitted": "auto-generated"}
    mail.refresh_from_db()
    assert (mail.state, mail.attempts, mail.error) == ("sent", 1, "")


def test_one_connection_carries_all_mail(queue, settings, monkeypatch):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    servers = []

    def connect(*_, **options):
        servers.append(Mock())
        return servers[-1]

    monkeypatch.setattr("smtplib.SMTP", connect)
    for name in "abc":
        queue(f"{name}@example.org")

    assert send() == 3
    [server] = servers
    assert [call.args[1] for call in server.sendmail.call_args_list] == [
        ["a@example.org"],
        ["b@example.org"],
        ["c@example.org"],
    ]
    server.quit.assert_called_once()


def test_the_scheduled_task_sends_mail(queue):
    queue()
    send_mail()

    assert len(outbox.outbox) == 1


def test_mail_stays_queued_while_the_server_sends_none(queue, settings):
    mail, settings.SENDS_MAIL = queue(), False

    assert send() == 0
    mail.refresh_from_db()
    assert (mail.state, outbox.outbox) == ("queued", [])


def test_claimed_mail_is_not_sent_by_another_worker(queue):
    queue(state=Mail.State.SENDING, changed_at=AT)

    assert send(AT + CLAIM) == 0
    assert not outbox.outbox


def test_of_two_workers_that_read_the_same_email_one_sends_it(queue, monkeypatch):
    queue()
    claim = mailing._claim

    def claim_second(mail, at):
        assert claim(Mail.objects.get(pk=mail.pk), at)  # the other worker is faster
        return claim(mail, at)

    monkeypatch.setattr(mailing, "_claim", claim_second)

    assert send() == 0
    assert not outbox.outbox


def test_mail_of_a_stopped_worker_is_not_sent_twice(queue):
    mail = queue(state=Mail.State.SENDING, attempts=1, changed_at=AT)
    send(AT + CLAIM + timedelta(seconds=1))

    mail.refresh_from_db()
    assert (mail.state, outbox.outbox) == ("failed", [])
    assert "may have been delivered" in mail.error


def test_a_temporary_error_is_tried_again_after_pauses_until_the_last(queue, fail):
    mail, tried, at = queue(), fail(refusal(450)), AT
    for pause in PAUSES:
        send(at)
        mail.refresh_from_db()
        assert (mail.state, mail.due_at) == ("queued", at + pause)
        send(at + pause - timedelta(seconds=1))
        at += pause
    send(at)

    mail.refresh_from_db()
    assert len(tried) == mail.attempts == len(PAUSES) + 1
    assert (mail.state, mail.error) == ("failed", "450 No such user")


def test_an_address_refused_for_good_does_not_stop_other_mail(queue, fail):
    mail, _ = queue(), queue("bob@example.org")
    fail(refusal(550), "ada@example.org")

    assert send() == 1
    assert outbox.outbox[0].to == ["bob@example.org"]
    mail.refresh_from_db()
    assert (mail.state, mail.error) == ("failed", "550 No such user")


def test_refused_content_fails_at_once(queue, fail):
    mail, _ = queue(), fail(SMTPDataError(554, b"Spam"))
    send()

    mail.refresh_from_db()
    assert (mail.state, mail.error) == ("failed", "554 Spam")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionRefusedError("refused"), "ConnectionRefusedError: refused"),
        (SMTPAuthenticationError(535, b"Wrong password"), "535 Wrong password"),
    ],
)
def test_while_the_mail_server_cannot_be_used_only_one_email_tries(queue, fail, error, reason):
    first, second = queue(), queue("bob@example.org")
    tried = fail(error)
    send()

    first.refresh_from_db()
    second.refresh_from_db()
    assert tried == ["ada@example.org"]
    assert (first.state, first.error) == ("queued", reason)
    assert (second.state, second.attempts, second.due_at) == ("queued", 0, AT + PAUSES[0])


def test_a_failed_email_can_be_sent_again(queue, organizer):
    mail = queue(state=Mail.State.FAILED, attempts=6, error="450 Busy")
    retry_mail(mail=mail, at=AT, by=organizer)

    assert send() == 1
    assert AuditEvent.objects.get(verb="mail.retry").actor == organizer


def test_mail_that_has_not_failed_cannot_be_sent_again(queue, organizer):
    with pytest.raises(UserError, match="has not failed"):
        retry_mail(mail=queue(state=Mail.State.SENT), at=AT, by=organizer)
