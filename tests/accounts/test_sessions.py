"""A person sees the own sessions and ends them, and an unused session ends by itself."""

import time
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from arqlab.accounts.services.sessions import browser_name, sessions_of
from arqlab.accounts.signedin import USED_AT, SessionStore
from arqlab.celery import app
from arqlab.core.models import AuditEvent, User
from tests.desk.views.test_home import text_of
from tests.factories import PASSWORD

PAGE, ACCOUNT, DAY = "/account/sessions/", "/account/", 86_400


def sign_in(person: User, browser: str = "Elinks", **headers: str) -> Client:
    client = Client(headers={"user-agent": browser, **headers})
    form = {"login": person.username, "password": PASSWORD}
    assert client.post("/accounts/login/", form).status_code == 302
    return client


def is_in(client: Client) -> bool:
    return client.get(ACCOUNT).status_code == 200


def used(client: Client, seconds_ago: float) -> None:
    """Store that a session was last used some time ago."""
    store = SessionStore(client.cookies["sessionid"].value)
    data = store.load() | {USED_AT: time.time() - seconds_ago}
    Session.objects.filter(pk=store.session_key).update(session_data=store.encode(data))


def test_the_page_lists_the_browsers_of_the_person_alone(member, other_member):
    here, _ = sign_in(member), sign_in(member, "Lynx")
    sign_in(other_member, "Mosaic")

    page = text_of(here.get(PAGE))

    assert "Elinks" in page
    assert "Lynx" in page
    assert "this session" in page
    assert "127.0.0.1" in page
    assert "Mosaic" not in page
    assert all(session.session_key not in page for session in UserSession.objects.all())


WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64) {WEBKIT} Chrome/141.0 Safari/537.36", "Chrome on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/141.0 Safari/537.36 Edg/141.0",
         "Edge on Windows"),
        (f"Mozilla/5.0 (Linux; Android 15) {WEBKIT} Chrome/141.0 Mobile", "Chrome on Android"),
        (f"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) {WEBKIT} Version/19.0 Safari/6",
         "Safari on iPhone"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko Firefox/145.0",
         "Firefox on macOS"),
        ("curl/8.9", "curl/8.9"),
        ("", "unknown"),
    ],
)  # fmt: skip
def test_browsers_are_named_as_people_know_them(user_agent, name):
    assert browser_name(user_agent) == name


def test_a_session_is_ended_at_once(member):
    here, there = sign_in(member), sign_in(member, "Lynx")
    session = UserSession.objects.get(user_agent="Lynx")

    page = text_of(here.post(f"{PAGE}{session.pk}/end/", follow=True))

    assert "Session ended." in page
    assert "Lynx" not in page
    assert (is_in(here), is_in(there)) == (True, False)
    event = AuditEvent.objects.get(verb="person.end-session")
    assert (event.person, event.detail["browser"]) == (member, "Lynx")


def test_the_schedule_deletes_ended_sessions_with_their_addresses(member, other_member):
    here, there, visitor = sign_in(member), sign_in(other_member), Session(session_key="visitor")
    visitor.expire_date = timezone.now() - timedelta(seconds=1)
    visitor.save()
    ended = Session.objects.filter(pk=there.cookies["sessionid"].value)
    ended.update(expire_date=timezone.now() - timedelta(seconds=1))

    app.tasks[app.conf.beat_schedule["arqlab.accounts.tasks.sweep_sessions"]["task"]]()

    assert [one.pk for one in Session.objects.all()] == [here.cookies["sessionid"].value]
    assert [one.user for one in UserSession.objects.all()] == [member]
    assert is_in(here)


def test_all_other_sessions_are_ended(member, other_member):
    here, *there = (sign_in(member) for _ in range(3))
    other = sign_in(other_member)

    page = text_of(here.post(f"{PAGE}end-others/", follow=True))

    assert "2 sessions ended." in page
    assert "End all other sessions" not in page
    assert [is_in(client) for client in (here, *there, other)] == [True, False, False, True]


def test_nobody_ends_the_sessions_of_others(member, other_member):
    here, other = sign_in(member), sign_in(other_member)
    session = UserSession.objects.get(user=other_member)

    assert here.post(f"{PAGE}{session.pk}/end/").status_code == 404
    assert is_in(other)


def test_a_new_password_ends_all_other_sessions(member):
    here, there = sign_in(member), sign_in(member)
    words = "another quiet blackboard"
    form = {"oldpassword": PASSWORD, "password1": words, "password2": words}

    assert here.post("/accounts/password/change/", form).status_code == 302

    assert (is_in(here), is_in(there)) == (True, False)
    assert sessions_of(member).get().session_key == here.session.session_key


def test_a_session_that_is_not_used_for_three_days_ends(member):
    client = sign_in(member)
    stored = Session.objects.get(pk=client.session.session_key)
    limit = stored.expire_date - timezone.now()
    assert timedelta(days=2.99) < limit <= timedelta(days=3)
    assert int(client.cookies["sessionid"]["max-age"]) == 3 * DAY

    used(client, 3 * DAY + 60)

    assert not is_in(client)
    assert UserSession.objects.filter(user=member).exists()


def test_the_limit_is_a_setting_that_old_sessions_keep_too(member, settings):
    client = sign_in(member)
    used(client, DAY + 60)
    settings.SESSION_COOKIE_AGE = DAY

    assert not is_in(client)


def test_using_a_session_moves_its_end_once_an_hour(member):
    client = sign_in(member)
    used(client, 2 * DAY)
    Session.objects.update(expire_date=timezone.now() + timedelta(days=1))
    UserSession.objects.update(last_seen_at=timezone.now() - timedelta(days=2))

    answer = client.get(ACCOUNT)

    assert int(answer.cookies["sessionid"]["max-age"]) == 3 * DAY
    assert Session.objects.get().expire_date > timezone.now() + timedelta(days=2.9)
    assert UserSession.objects.get().last_seen_at > timezone.now() - timedelta(minutes=5)
    assert "sessionid" not in client.get(ACCOUNT).cookies


def test_a_session_of_an_earlier_version_is_listed_and_limited(member, client):
    client.force_login(member)
    store = SessionStore(client.cookies["sessionid"].value)
    data = store.load() | {"_session_expiry": 14 * DAY}
    data.pop(USED_AT)
    Session.objects.update(session_data=store.encode(data))
    assert not UserSession.objects.exists()

    client.get(ACCOUNT)

    assert UserSession.objects.get().user == member
    assert Session.objects.get().expire_date <= timezone.now() + timedelta(days=3)


def test_a_database_that_takes_no_writes_keeps_nobody_from_reading(member, monkeypatch):
    client = sign_in(member)
    used(client, 2 * DAY)

    def refuses(_: object) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr(UserSession.objects, "create_from_request", refuses)

    assert is_in(client)


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}end-others/", f"{PAGE}1/end/"])
def test_visitors_are_sent_to_sign_in(db, client, path):
    assert client.post(path).url.startswith("/accounts/login/")
