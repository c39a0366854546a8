"""However many sign in at once, other pages keep their threads."""

from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore, Event, Semaphore

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.test import Client

from arqlab.core.hashing import PasswordHasher, TooManyPasswordsError, Turns
from arqlab.core.models import User
from tests.factories import PASSWORD

SIGN_IN, SIGN_UP = "/accounts/login/", "/accounts/signup/"
ADA = {"email": "ada@example.org", "username": "ada", "password1": "a quiet blackboard 7"}


class Announced(BoundedSemaphore):
    """A semaphore that tells of each thread that comes to it."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.come = Semaphore(0)

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        self.come.release()
        return super().acquire(blocking, timeout)


def test_half_of_the_threads_hash_or_wait_and_the_next_is_refused_at_once() -> None:
    turns, ends = Turns(threads=8, wait=60), Event()
    turns._hashing = inside = Announced(2)

    def signs_in() -> bool:
        with turns.form(), turns.hashing():
            return ends.wait(60)

    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(signs_in) for _ in range(4)]
        assert all(inside.come.acquire(timeout=60) for _ in others)
        with pytest.raises(TooManyPasswordsError), turns.form():
            pass
        ends.set()

        assert all(other.result(60) for other in others)


def test_who_waits_too_long_to_hash_is_refused() -> None:
    turns = Turns(threads=4, wait=0)
    for _ in range(2):
        with turns.hashing(), pytest.raises(TooManyPasswordsError), turns.hashing():
            pass


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_somebody_may_always_hash(threads: int) -> None:
    with Turns(threads).form(), Turns(threads).hashing():
        pass


def test_hashes_of_djangos_own_hasher_stay_valid() -> None:
    stored = PBKDF2PasswordHasher().encode("a quiet blackboard", "salt", 1)

    assert PasswordHasher().verify("a quiet blackboard", stored)


@pytest.fixture
def crowd(settings, monkeypatch) -> Turns:
    """Return the turns of this process."""
    settings.PASSWORD_HASHERS = ["arqlab.core.hashing.PasswordHasher", *settings.PASSWORD_HASHERS]
    monkeypatch.setattr(PasswordHasher, "turns", Turns(threads=2, wait=0))
    return PasswordHasher.turns


@pytest.mark.parametrize("place", ["form", "hashing"])
@pytest.mark.parametrize(
    ("path", "form"), [(SIGN_IN, {"login": "nobody", "password": "x"}), (SIGN_UP, ADA)]
)
def test_who_finds_no_turn_is_told_to_try_again(
    db: None, crowd: Turns, caplog, place: str, path: str, form: dict[str, str]
) -> None:
    with getattr(crowd, place)():
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
    with crowd.form(), crowd.hashing():
        assert [Client().get(path).status_code for path in ("/", SIGN_IN)] == [200, 200]


def test_a_form_without_a_turn_counts_as_no_wrong_password(
    member: User, settings, crowd: Turns
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "1/m/ip"}
    form = {"login": member.username, "password": PASSWORD}
    with crowd.form():
        assert [Client().post(SIGN_IN, form).status_code for _ in range(3)] == [503] * 3

    assert Client().post(SIGN_IN, form).status_code == 302
