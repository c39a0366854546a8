"""Passwords are hashed by few threads of a process at a time, so that pages keep the others.

A hash takes a third of a second of a core by design, and everybody may ask for one.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import BoundedSemaphore

from django.contrib.auth.hashers import PBKDF2PasswordHasher

LONGEST_WAIT = 5.0
"""Seconds that a request waits for its turn."""


class TooManyPasswordsError(Exception):
    """No thread is free to hash another password; the request may be sent again."""


class Turns:
    """Who may hash among the threads of a process.

    At most half of them answer forms with passwords; further forms are refused at once. Of those,
    half hash at a time, on at most half of the cores.
    """

    def __init__(self, threads: int, *, wait: float = LONGEST_WAIT) -> None:
        self.wait = wait
        self._forms = BoundedSemaphore(max(1, threads // 2))
        at_once = min(threads // 4, (os.cpu_count() or 1) // 2)
        self._hashing = BoundedSemaphore(max(1, at_once))

    def form(self) -> AbstractContextManager[None]:
        """Return a context to answer a form with a password; raises `TooManyPasswordsError`."""
        return _taken(self._forms, wait=0)

    def hashing(self) -> AbstractContextManager[None]:
        """Return a context to hash a password; raises `TooManyPasswordsError` after a wait."""
        return _taken(self._hashing, wait=self.wait)


@contextmanager
def _taken(places: BoundedSemaphore, *, wait: float) -> Iterator[None]:
    if not places.acquire(timeout=wait):
        raise TooManyPasswordsError
    try:
        yield
    finally:
        places.release()


class PasswordHasher(PBKDF2PasswordHasher):
    """Django's own hasher, whose every hash, new or compared, waits for its turn."""

    turns = Turns(threads=8)

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Return the hash of a password; raises `TooManyPasswordsError`."""
        with self.turns.hashing():
            return super().encode(password, salt, iterations)
