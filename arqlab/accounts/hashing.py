"""Passwords are hashed by few threads of a process at a time, so that pages keep the others.

A hash takes a third of a second of a core by design, and everybody may ask for one. Forms with
passwords wait for their turn before they reach a thread, and the addresses that send them take
turns, so that one that sends many keeps nobody else waiting.
"""

import asyncio
import os
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from django.contrib.auth.hashers import PBKDF2PasswordHasher

LONGEST_WAIT = 5.0
"""Seconds that a thread waits for its turn to hash."""
LONGEST_QUEUE = 10.0
"""Seconds that a form waits for its turn to reach a thread."""
MOST_WAITING = 100
"""The most forms of an address that wait."""


class TooManyPasswordsError(Exception):
    """No thread is free to hash another password; the request may be sent again."""


class Places:
    """The places for forms with passwords: at most half of the threads of a process.

    An address has at most half of the places. While all are taken, its forms wait in a line, and
    the lines take turns: others get one place each before the same address gets another. An event
    loop asks, so nobody who waits holds a thread.
    """

    def __init__(self, threads: int, *, wait: float = LONGEST_QUEUE) -> None:
        self.wait, self.free = wait, max(1, threads // 2)
        self.most_of_address = max(1, self.free // 2)
        self._inside: Counter[str] = Counter()
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}

    async def enter(self, address: str) -> bool:
        """Wait for a place; return False if none was free in time. Who has one must leave it."""
        line = self._lines.setdefault(address, deque())
        if len(line) >= MOST_WAITING:
            return False
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.append(turn)
        self._admit()
        try:
            if not turn.done():
                await asyncio.wait([turn], timeout=self.wait)
        except asyncio.CancelledError:
            if turn.done():
                self.leave(address)
            else:
                self._give_up(address, turn)
            raise
        if not turn.done():
            self._give_up(address, turn)
        return turn.done()

    def leave(self, address: str) -> None:
        """Free a place."""
        self.free += 1
        self._inside[address] -= 1
        if not self._inside[address]:
            del self._inside[address]
        self._admit()

    def _admit(self) -> None:
        """Fill the free places. The lines are in the order in which they were served."""
        for address in list(self._lines):
            if self.free and self._inside[address] < self.most_of_address:
                self.free -= 1
                self._inside[address] += 1
                line = self._lines.pop(address)
                line.popleft().set_result(None)
                if line:
                    self._lines[address] = line

    def _give_up(self, address: str, turn: asyncio.Future[None]) -> None:
        line = self._lines[address]
        line.remove(turn)
        if not line:
            del self._lines[address]


class Turns:
    """Who may hash among the threads of a process: half of those with forms, and of the cores."""

    def __init__(self, threads: int, *, wait: float = LONGEST_WAIT) -> None:
        self.wait = wait
        at_once = min(threads // 4, (os.cpu_count() or 1) // 2)
        self._hashing = BoundedSemaphore(max(1, at_once))

    @contextmanager
    def hashing(self) -> Iterator[None]:
        """Hash a password within this context; raises `TooManyPasswordsError` after a wait."""
        if not self._hashing.acquire(timeout=self.wait):
            raise TooManyPasswordsError
        try:
            yield
        finally:
            self._hashing.release()


class PasswordHasher(PBKDF2PasswordHasher):
    """Django's own hasher, whose every hash, new or compared, waits for its turn."""

    turns = Turns(threads=8)

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Return the hash of a password; raises `TooManyPasswordsError`."""
        with self.turns.hashing():
            return super().encode(password, salt, iterations)
