"""The pages of a user's own notices, the count in the header, and the switch for email."""

import pytest
from django.utils import timezone

from arqlab.notices.models import Kind, MailOptOut, Notice
from tests.desk.views.test_home import text_of


@pytest.fixture
def notice(lab, member):
    return Notice.objects.create(
        lab=lab,
        user=member,
        kind=Kind.DEADLINE,
        subject="Task 1 closes in 24 hours",
        text="See https://example.org/rules\n\nTeam <Alpha> has no runs.",
        path="/labs/arqmath-x/",
        key="deadline",
        created_at=timezone.now(),
    )


@pytest.fixture
def browser(client_of, member):
    return client_of(member)


def test_an_unread_notice_is_counted_on_every_page_and_listed_at_home(notice, browser):
    page = text_of(browser.get("/"))

    assert '1<span class="visually-hidden"> unread</span>' in page
    assert f'<a href="/notices/{notice.pk}/">Task 1 closes in 24 hours</a>' in page
    assert "unread</span>" in text_of(browser.get("/account/"))


def test_opening_a_notice_shows_its_text_and_marks_it_as_read(notice, browser):
    page = text_of(browser.get(f"/notices/{notice.pk}/"))

    assert "Team &lt;Alpha&gt; has no runs." in page
    assert '<a href="https://example.org/rules"' in page
    assert 'href="/labs/arqmath-x/">View runs</a>' in page
    assert "nav-count" not in text_of(browser.get("/"))


def test_a_notice_keeps_the_time_it_was_first_read(notice, browser):
    first = None
    for _ in range(2):
        browser.get(f"/notices/{notice.pk}/")
        notice.refresh_from_db()
        first = first or notice.read_at

    assert notice.read_at == first


def test_nobody_else_can_open_a_notice(notice, client_of, organizer, superuser):
    for person in (organizer, superuser):
        assert client_of(person).get(f"/notices/{notice.pk}/").status_code == 404

    notice.refresh_from_db()
    assert notice.read_at is None


def test_all_notices_are_marked_as_read_at_once(notice, browser):
    assert "Mark all as read" in text_of(browser.get("/notices/"))
    page = text_of(browser.post("/notices/read/", follow=True))

    assert "0 unread" in page
    assert "Task 1 closes in 24 hours" in page


def test_email_is_turned_off_and_on_again_on_the_account_page(browser, member):
    page = browser.post("/notices/mail/", {"mail": "off"}, follow=True)
    assert "Turn on email" in text_of(page)
    assert MailOptOut.objects.filter(user=member).exists()

    page = browser.post("/notices/mail/", {"mail": "on"}, follow=True)
    assert "Turn off email" in text_of(page)
    assert not MailOptOut.objects.exists()


@pytest.mark.parametrize(
    ("sends", "email", "sentence"),
    [
        (False, "a@example.org", "This server sends no email"),
        (True, "a@example.org", "also sent to a@example.org"),
        (True, "", "has no email address"),
    ],
)
def test_the_list_says_whether_notices_come_by_email(
    browser, member, settings, sends, email, sentence
):
    settings.SENDS_MAIL, member.email = sends, email
    member.save()

    assert sentence in text_of(browser.get("/notices/"))
    account = text_of(browser.get("/account/"))
    assert (" page and at a@example.org." in account) is (sends and bool(email))
    assert ("This server sends no email." in account) is not sends


def test_opening_the_page_of_a_notice_marks_it_as_read_and_no_other(notice, browser):
    pages = {"here": "#tickets", "elsewhere": "tasks/task1/", "nowhere": None}
    for key, rest in pages.items():
        path = "" if rest is None else f"/labs/arqmath-x/{rest}"
        Notice.objects.create(
            lab=notice.lab,
            user=notice.user,
            kind=Kind.DEADLINE,
            subject=key,
            path=path,
            key=key,
            created_at=timezone.now(),
        )

    assert '4<span class="visually-hidden"> unread' in text_of(browser.get("/"))
    assert '2<span class="visually-hidden"> unread' in text_of(browser.get("/labs/arqmath-x/"))
    assert {one.key for one in Notice.objects.unread()} == {"elsewhere", "nowhere"}


def test_a_page_that_is_missing_leaves_its_notice_unread(notice, browser):
    Notice.objects.update(path="/labs/arqmath-x/tasks/missing/")

    assert browser.get("/labs/arqmath-x/tasks/missing/").status_code == 404
    assert Notice.objects.unread().exists()
