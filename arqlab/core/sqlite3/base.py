"""Django's backend for SQLite, with transactions that take turns (docs/adr/0017).

SQLite has one writer. Those who wait for it look again after pauses that grow to a tenth of a
second, so that some wait for half a second while others write one after another.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic, sleep
from typing import cast

from django.db import OperationalError, connections
from django.db.backends.sqlite3 import base

from arqlab.core.faults import is_database_lost

PAUSE = 2
"""The milliseconds after which the next in line looks again, while another process writes."""
LONGEST = 0.1
"""The most seconds for which background work lets others write after a transaction of its own; the
least are what that took."""
SOON = 2.0
"""The seconds after which a command reports that it waits."""
_turns = Lock()
"""Held by the transaction of this process that writes, or that is the next to write."""
WAITING = "Another job or command writes into the database. Waiting until it has finished."
PATIENCE = 3600.0
"""The seconds for which a command waits for the lock."""


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose transactions wait for those of other threads, then of other processes."""

    transaction_mode: str | None  # of Django
    has_turn, began = False, 0.0
    patience = 0.0
    """The least seconds for which a transaction waits, in a command (`patiently`)."""
    report: Callable[[str], object] | None = None
    not_before = 0.0
    """When background work may begin another transaction, in seconds of the process."""

    def _start_transaction_under_autocommit(self) -> None:
        if self.transaction_mode == "DEFERRED":  # it only reads
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # untyped
            return
        seconds = max(self.settings_dict["OPTIONS"]["timeout"], DatabaseWrapper.patience)
        began = monotonic()
        report, end = DatabaseWrapper.report, began + seconds
        self.has_turn = _turns.acquire(timeout=seconds)
        try:
            sleep(max(0, DatabaseWrapper.not_before - monotonic()))
            self.connection.execute(f"PRAGMA busy_timeout = {PAUSE}")
            while not self._begins(is_last=monotonic() >= end):
                if report and monotonic() >= began + SOON:
                    report(WAITING)
                    report = None
            self.began = monotonic()
        except BaseException:
            self._end_turn()
            raise
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")

    def _begins(self, *, is_last: bool) -> bool:
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # untyped
        except OperationalError as error:
            if is_last or not is_database_lost(error):
                raise
            return False
        return True

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]  # untyped; if it fails, Django rolls back
        self._end_turn()

    def _rollback(self) -> None:
        super()._rollback()  # type: ignore[misc]  # untyped; if it fails, Django closes the connection
        self._end_turn()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]  # untyped
        finally:
            self._end_turn()

    def _end_turn(self) -> None:
        if self.has_turn:
            self.has_turn = False
            if os.getpriority(os.PRIO_PROCESS, 0) > 0:  # as `let_pages_go_first` sets it
                now = monotonic()
                DatabaseWrapper.not_before = now + min(now - self.began, LONGEST)
            _turns.release()


@contextmanager
def patiently(report: Callable[[str], object]) -> Iterator[None]:
    """Let this process wait for the lock for as long as another writes, and report it once."""
    DatabaseWrapper.patience, DatabaseWrapper.report = PATIENCE, staticmethod(report)
    try:
        yield
    finally:
        DatabaseWrapper.patience, DatabaseWrapper.report = 0.0, None


@contextmanager
def only_reading() -> Iterator[None]:
    """Let the transactions of this thread begin without the lock: they write nothing."""
    wrapper = cast(DatabaseWrapper, connections["default"])
    before, wrapper.transaction_mode = wrapper.transaction_mode, "DEFERRED"
    try:
        yield
    finally:
        wrapper.transaction_mode = before
