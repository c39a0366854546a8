"""The signed-in user, checked through the account page, which visitors cannot see."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from arqlab.accounts import signedin
from arqlab.accounts.signedin import SessionStore
from arqlab.core.models import User


@pytest.fixture
def person(db: None) -> User:
    return User.objects.create_user("ada", "ada@example.org", "a long pass phrase")


@pytest.fixture
def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def is_in(client: Client) -> bool:
    return client.get(reverse("accounts:account")).status_code == 200


def test_who_signed_in_before_an_upgrade_stays_signed_in(browser: Client) -> None:
    session = browser.session
    session["_auth_user_backend"] = "arqlab.core.signedin.Backend"  # as version 0.1.0 stored it
    session.save()

    assert is_in(browser)


@pytest.mark.parametrize(("guess", "queries"), [("right", 1), ("wrong", 2), ("none", 2)])
def test_a_query_reads_session_and_user_whoever_had_the_session(
    browser: Client, person: User, django_assert_num_queries, guess: str, queries: int
) -> None:
    other = User.objects.create_user("bob", "bob@example.org", "a long pass phrase")
    request = RequestFactory().get("/")
    request.session = SessionStore(browser.session.session_key)
    if guess != "right":
        signedin._users.pop(browser.session.session_key)
    if guess == "wrong":
        signedin._users[browser.session.session_key] = other.pk
    with django_assert_num_queries(queries):
        assert get_user(request) == person


def test_another_password_signs_the_sessions_out_at_once(browser: Client, person: User) -> None:
    assert is_in(browser)
    person.set_password("another long pass phrase")
    person.save()
    assert not is_in(browser)


def test_a_session_that_was_ended_elsewhere_signs_nobody_in(browser: Client) -> None:
    assert is_in(browser)
    Session.objects.all().delete()
    assert not is_in(browser)


def test_other_fields_of_the_user_are_loaded_on_first_use(browser: Client, person: User) -> None:
    request = RequestFactory().get("/")
    request.session = SessionStore(browser.session.session_key)
    found = get_user(request)
    known = User.objects.get(pk=person.pk)

    fields = [field.attname for field in User._meta.concrete_fields]
    assert [getattr(found, field) for field in fields] == [
        getattr(known, field) for field in fields
    ]


def test_an_expired_session_signs_nobody_in(browser: Client) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))

    assert not is_in(browser)


def test_an_invented_session_signs_nobody_in(person: User) -> None:
    client = Client()
    client.cookies["sessionid"] = "made-up-by-somebody"

    assert not is_in(client)


def test_a_tampered_session_signs_nobody_in(browser: Client) -> None:
    session = Session.objects.get()
    session.session_data = session.session_data[:-1] + (
        "a" if session.session_data[-1] != "a" else "b"
    )
    session.save()

    assert not is_in(browser)


@pytest.mark.parametrize("change", [{"is_active": False}, {"password": "another"}])
def test_a_deactivated_user_is_signed_out_at_once(
    browser: Client, person: User, change: dict[str, object]
) -> None:
    User.objects.filter(pk=person.pk).update(**change)

    assert not is_in(browser)


def test_a_deleted_user_is_signed_out(browser: Client, person: User) -> None:
    person.delete()

    assert not is_in(browser)


def test_a_connection_that_the_database_ended_is_replaced(transactional_db) -> None:
    stored = SessionStore()
    stored["name"] = "ada"
    stored.create()
    if connection.vendor == "postgresql":
        other = connection.copy()
        with other.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid]
            )
        other.close()

    assert SessionStore(stored.session_key)["name"] == "ada"
