"""However many sign in at once, other pages keep their threads."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.test import Client

from arqlab.accounts import hashing
from arqlab.accounts.attempts import NO_PLACE, PasswordForms, client_address
from arqlab.accounts.hashing import PasswordHasher, Places, TooManyPasswordsError, Turns
from arqlab.core.models import User
from tests.factories import PASSWORD

SIGN_IN, SIGN_UP = "/accounts/login/", "/accounts/signup/"
ADA = {"email": "ada@example.org", "username": "ada", "password1": "a quiet blackboard 7"}


def test_who_waits_too_long_to_hash_is_refused() -> None:
    turns = Turns(threads=4, wait=0)
    for _ in range(2):
        with turns.hashing(), pytest.raises(TooManyPasswordsError), turns.hashing():
            pass


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_somebody_may_always_hash(threads: int) -> None:
    with Turns(threads).hashing():
        assert asyncio.run(Places(threads).enter("a"))


async def waiting(places: Places, address: str, count: int = 1) -> list[asyncio.Task[bool]]:
    """Send forms from an address, and return what becomes of them."""
    forms = [asyncio.create_task(places.enter(address)) for _ in range(count)]
    await settled()
    return forms


async def settled() -> None:
    """Let all tasks go on until they wait."""
    for _ in range(10):
        await asyncio.sleep(0)


def inside(forms: list[asyncio.Task[bool]]) -> int:
    """Return how many forms have a place."""
    return sum(form.done() and form.result() for form in forms)


async def left(places: Places, address: str) -> None:
    places.leave(address)
    await settled()


def test_an_address_has_half_of_the_places_and_others_find_one_at_once() -> None:
    async def scenario() -> None:
        places = Places(threads=8)
        loops = await waiting(places, "the attacker", 24)
        assert inside(loops) == 2

        people = [await waiting(places, address) for address in ("ada", "grace")]
        assert all(map(inside, people))
        for task in loops:
            task.cancel()

    asyncio.run(scenario())


def test_addresses_that_wait_take_turns() -> None:
    async def scenario() -> None:
        places = Places(threads=4)
        first, second = await waiting(places, "a", 24), await waiting(places, "b", 24)
        assert (inside(first), inside(second)) == (1, 1)
        ada, grace = await waiting(places, "ada"), await waiting(places, "grace")

        for address in ("a", "b"):
            await left(places, address)
        assert (inside(first), inside(second), inside(ada)) == (2, 2, 0)
        await left(places, "a")
        assert inside(ada)
        await left(places, "b")
        assert inside(grace)
        await left(places, "ada")
        await left(places, "grace")
        assert (inside(first), inside(second)) == (3, 3)
        for task in first + second:
            task.cancel()

    asyncio.run(scenario())


def test_who_waits_in_vain_and_who_goes_away_leave_nothing_behind() -> None:
    async def scenario() -> None:
        places = Places(threads=2, wait=0)
        assert await places.enter("a")
        assert not await places.enter("a")
        assert not await places.enter("b")
        places.wait = 60
        [gone] = await waiting(places, "b")
        gone.cancel()
        await asyncio.wait([gone])
        places.leave("a")

        assert (places.free, dict(places._inside), places._lines) == (1, {}, {})

    asyncio.run(scenario())


def test_a_line_has_an_end() -> None:
    async def scenario() -> None:
        places = Places(threads=2)
        forms = await waiting(places, "a", 1 + hashing.MOST_WAITING)
        assert not await places.enter("a")
        for task in forms:
            task.cancel()

    asyncio.run(scenario())


def test_hashes_of_djangos_own_hasher_stay_valid() -> None:
    stored = PBKDF2PasswordHasher().encode("a quiet blackboard", "salt", 1)

    assert PasswordHasher().verify("a quiet blackboard", stored)


@pytest.fixture
def crowd(settings, monkeypatch) -> Turns:
    """Return the turns of this process."""
    hasher = "arqlab.accounts.hashing.PasswordHasher"
    settings.PASSWORD_HASHERS = [hasher, *settings.PASSWORD_HASHERS]
    monkeypatch.setattr(PasswordHasher, "turns", Turns(threads=2, wait=0))
    return PasswordHasher.turns


@pytest.mark.parametrize("without", ["place", "turn"])
@pytest.mark.parametrize(
    ("path", "form"), [(SIGN_IN, {"login": "nobody", "password": "x"}), (SIGN_UP, ADA)]
)
def test_who_finds_no_turn_is_told_to_try_again(
    db: None, crowd: Turns, caplog, without: str, path: str, form: dict[str, str]
) -> None:
    if without == "place":
        answer = Client().post(path, form, **{NO_PLACE: True})
    else:
        with crowd.hashing():
            answer = Client().post(path, form)

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "Wait a few seconds, then send the form again." in answer.text
    assert [(each.levelname, each.exc_info) for each in caplog.records] == [("WARNING", None)]
    assert not User.objects.exists()


def test_signing_up_with_a_known_address_hashes_as_with_a_new_one(
    member: User, settings, crowd: Turns
) -> None:
    settings.SENDS_MAIL, settings.ACCOUNT_EMAIL_VERIFICATION = True, "mandatory"
    with crowd.hashing():
        answers = [
            Client().post(SIGN_UP, ADA | {"email": each})
            for each in (member.email, "new@example.org")
        ]

    assert [answer.status_code for answer in answers] == [503, 503]


def test_other_pages_answer_meanwhile(db: None, crowd: Turns) -> None:
    with crowd.hashing():
        assert [Client().get(path).status_code for path in ("/", SIGN_IN)] == [200, 200]


def test_a_form_without_a_place_counts_as_no_wrong_password(
    member: User, settings, crowd: Turns
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "1/m/ip"}
    form = {"login": member.username, "password": PASSWORD}
    answers = [Client().post(SIGN_IN, form, **{NO_PLACE: True}) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [503] * 3
    assert Client().post(SIGN_IN, form).status_code == 302


LIMITED = {
    SIGN_IN: ("login", {"login": "nobody", "password": "x"}),
    SIGN_UP: ("signup", {}),
    "/accounts/password/reset/": ("reset_password", {"email": "ada@example.org"}),
}


@pytest.mark.parametrize("path", LIMITED)
def test_an_address_over_its_limit_is_refused_before_anything_is_written_or_hashed(
    db: None, settings, crowd: Turns, path: str, django_assert_num_queries
) -> None:
    limit, form = LIMITED[path]
    settings.ACCOUNT_RATE_LIMITS = {limit: "1/m/ip"}
    Client().post(path, form)

    with crowd.hashing(), django_assert_num_queries(1):
        answer = Client().post(path, form)

    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 60
    assert Client().post(path, form, REMOTE_ADDR="203.0.113.9").status_code != 429


def test_wrong_passwords_of_an_address_end_before_the_right_one_is_hashed(
    member: User, settings, crowd: Turns
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "2/m/ip,9/d/key"}
    form = {"login": member.username, "password": PASSWORD}
    for _ in range(2):
        Client().post(SIGN_IN, form | {"password": "wrong"})

    answer = Client().post(SIGN_IN, form)

    assert answer.status_code == 429
    assert "Too many wrong passwords from your address. This one was not checked." in answer.text
    assert "/accounts/password/reset/" in answer.text
    assert Client().post(SIGN_IN, form, REMOTE_ADDR="203.0.113.9").status_code == 302


def test_limits_count_the_address_that_the_proxy_names(settings) -> None:
    environ = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "192.0.2.7, 203.0.113.4"}
    assert client_address(environ) == "10.0.0.1"
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    assert client_address(environ) == "203.0.113.4"
    for junk in ("unknown", "", "1.2.3.4:99999", "[::1", "é, \x00"):
        assert client_address(environ | {"HTTP_X_FORWARDED_FOR": junk})
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 3
    assert client_address(environ) == "10.0.0.1"


def test_forms_of_accounts_wait_and_nothing_else_does() -> None:
    forms = PasswordForms(threads=8)
    sent = [("POST", SIGN_IN), ("POST", "/accounts/2fa/reauthenticate/"), ("PUT", SIGN_UP)]
    others = [("GET", SIGN_IN), ("HEAD", SIGN_UP), ("POST", "/labs/"), ("POST", "/api/v1/me/")]
    for asked, waits in ((sent, True), (others, False)):
        for method, path in asked:
            assert forms.takes({"REQUEST_METHOD": method, "PATH_INFO": path}) is waits


def test_a_form_that_finds_no_place_is_marked() -> None:
    async def scenario() -> list[dict[str, Any]]:
        forms = PasswordForms(threads=2)
        forms.places.wait = 0
        asked = [{"REMOTE_ADDR": address} for address in ("10.0.0.1", "10.0.0.2")]
        leave, _ = [await forms.enter(environ) for environ in asked]
        leave()
        await forms.enter(again := {"REMOTE_ADDR": "10.0.0.2"})
        return [*asked, again]

    assert [NO_PLACE in environ for environ in asyncio.run(scenario())] == [False, True, False]
