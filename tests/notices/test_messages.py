"""Organizers write to teams and assessors, and see what happened to each email."""

from uuid import uuid4

import pytest
from django.core import mail as outbox

from arqlab.core.models import AuditEvent
from arqlab.notices.models import Mail, Message, Notice
from arqlab.notices.services.notifying import set_mail_preference
from arqlab.notices.tasks import send_mail
from tests.desk.views.test_home import text_of
from tests.factories import AssessorFactory, LabFactory, OrganizerFactory

LIST = "/labs/arqmath-x/messages/"
NEW = f"{LIST}new/"


@pytest.fixture
def browser(client_of, organizer):
    return client_of(organizer)


@pytest.fixture
def words():
    return {
        "audience": "both",
        "subject": "Deadline extended",
        "text": "See https://example.org/.\r\n\r\nGood luck <all>!",
        "key": str(uuid4()),
    }


@pytest.fixture
def sends_mail(settings):
    settings.SENDS_MAIL = True


def test_a_preview_shows_the_message_and_counts_its_recipients(
    browser, words, sends_mail, assessor
):
    set_mail_preference(user=assessor, gets_mail=False)
    page = text_of(browser.post(NEW, words))

    assert "To 3 people, 2 of them also by email." in page
    assert '<a href="https://example.org/"' in page
    assert "Good luck &lt;all&gt;!" in page
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("audience", "people"),
    [
        ("teams", ["member-arqmath-x", "other-member-arqmath-x"]),
        ("assessors", ["assessor-arqmath-x"]),
        ("both", ["assessor-arqmath-x", "member-arqmath-x", "other-member-arqmath-x"]),
    ],
)
def test_a_message_reaches_its_audience(browser, words, audience, people):
    browser.post(NEW, words | {"audience": audience, "send": "yes"})

    told = Notice.objects.filter(kind="message").values_list("user__username", flat=True)
    assert sorted(told) == people
    assert AuditEvent.objects.get(verb="message.send").detail["recipients"] == len(people)


def test_who_is_in_a_team_and_assesses_gets_one_message(browser, words, lab, member):
    AssessorFactory(lab=lab, user=member)
    browser.post(NEW, words | {"send": "yes"})

    assert Notice.objects.filter(kind="message", user=member).count() == 1


def test_a_message_sent_twice_is_sent_once(browser, words):
    for _ in range(2):
        page = browser.post(NEW, words | {"send": "yes"}, follow=True)

    assert "Message sent to 3 people." in text_of(page)
    assert (Message.objects.count(), Notice.objects.filter(kind="message").count()) == (1, 3)


def test_a_message_is_mailed_and_replies_go_to_its_sender(browser, words, sends_mail, organizer):
    browser.post(NEW, words | {"audience": "assessors", "send": "yes"})
    send_mail()

    [message] = outbox.outbox
    assert message.subject == "[The lab arqmath-x] Deadline extended"
    assert message.body.startswith("See https://example.org/.\n\nGood luck <all>!\n\n-- \n")
    assert message.reply_to == [organizer.email]


def test_a_message_shows_who_read_it_and_whose_mail_failed(
    browser, words, sends_mail, client_of, member, assessor
):
    browser.post(NEW, words | {"send": "yes"})
    notice = Notice.objects.get(user=member)
    client_of(member).get(f"/notices/{notice.pk}/")
    Mail.objects.filter(address=assessor.email).update(state="failed", error="550 No such user")

    page = text_of(browser.get(f"{LIST}{notice.message_id}/"))
    assert "550 No such user" in page
    assert page.count("Queued</span>") == 2
    row = text_of(browser.get(LIST)).split("Deadline extended")[1].split("</tr>")[0]
    figures = [part.split("</td>")[0] for part in row.split('<td class="num">')[1:]]
    assert figures == ["3", "1", "0", "2", "1"]  # people, read, sent, queued, failed


def test_without_a_mail_server_the_page_says_so_and_shows_the_link_to_pass_on(
    browser, words, member
):
    assert "This server sends no email" in text_of(browser.get(NEW))
    page = text_of(browser.post(NEW, words | {"send": "yes"}, follow=True))

    assert "Nothing was sent by email." in page
    assert 'value="http://testserver/notices/"' in page
    assert member.email in page
    assert not Mail.objects.exists()


def test_a_message_to_nobody_is_refused(db, client_of, words):
    lab = LabFactory(slug="empty")
    browser = client_of(OrganizerFactory(lab=lab).user)
    response = browser.post("/labs/empty/messages/new/", words | {"send": "yes"})

    assert response.status_code == 409
    assert "has no such recipients" in text_of(response)


def test_an_empty_message_is_refused(browser, words):
    page = text_of(browser.post(NEW, words | {"subject": " ", "text": "", "send": "yes"}))

    assert "Enter a subject." in page
    assert "Enter a message." in page


def test_the_mail_log_filters_by_state_and_sends_failed_mail_again(browser, words, sends_mail):
    browser.post(NEW, words | {"send": "yes"})
    failed = Mail.objects.first()
    Mail.objects.filter(pk=failed.pk).update(state="failed", error="550 No such user")
    page = text_of(browser.get("/labs/arqmath-x/mail/?state=failed"))
    assert "550 No such user" in page
    assert "Queued: 2" in page
    assert page.count('<th scope="row">') == 1

    page = browser.post(f"/labs/arqmath-x/mail/{failed.pk}/retry/", follow=True)
    assert f"The email to {failed.address} is queued again." in text_of(page)
    assert "has not failed" in text_of(
        browser.post(f"/labs/arqmath-x/mail/{failed.pk}/retry/", follow=True)
    )


def test_mail_of_another_lab_cannot_be_sent_again(browser):
    other = LabFactory(slug="other")
    mail = Mail.objects.create(
        lab=other,
        address="a@example.org",
        state="failed",
        due_at="2026-05-01T00:00Z",
        changed_at="2026-05-01T00:00Z",
    )

    assert browser.post(f"/labs/arqmath-x/mail/{mail.pk}/retry/").status_code == 404
