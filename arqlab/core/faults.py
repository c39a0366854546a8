"""Whose fault an error is: what passes when the server is well again, and everything else.

A mistake of a user is data with a line number or a `UserError`, never one of these.
"""

import errno
import os
import sqlite3
from datetime import datetime, timedelta

from django.db import Error, InterfaceError, OperationalError
from django.db.models import Q

PAUSES = tuple(timedelta(seconds=each) for each in (10, 60, 300, 900, 3600, 7200, 14_400))
"""The pauses after failed attempts at work in the background. The last one is repeated."""
NOTIFIED_AFTER = 3
"""The number of failed attempts at a run after which organizers are notified."""
_LOST = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
_SHUTDOWN = {"57P01", "57P02", "57P03", "53300"}
"""PostgreSQL ends, has crashed, starts, or has no connection left."""


def will_pass(error: BaseException) -> bool:
    """Return whether the same work is likely to succeed when the server is well again."""
    return isinstance(error, (OSError, MemoryError)) or is_database_lost(error)


def reason_of(error: BaseException | None) -> str:
    """Return what failed in words for organizers; None is a worker that ended."""
    if error is None:
        return "the worker ended"
    if is_disk_full(error):
        return "the disk is full"
    if is_database_lost(error):
        return "the database cannot be reached"
    if isinstance(error, MemoryError):
        return "the memory is not enough"
    if isinstance(error, OSError) and error.errno:
        return f"files cannot be read or written ({os.strerror(error.errno)})"
    return "an error in ArqLab, which is logged"


def attempt_due_at(attempts: int, since: datetime) -> datetime:
    """Return when work is due again after so many failed attempts, the last of them at `since`."""
    return since + PAUSES[min(attempts, len(PAUSES)) - 1] if attempts else since


def due(since: str, at: datetime) -> Q:
    """Return a filter of rows with `attempts` that are due, by the field with the last attempt."""
    is_due = Q(attempts=0)
    for attempts, pause in enumerate(PAUSES, start=1):
        is_due |= Q(attempts=attempts, **{f"{since}__lte": at - pause})
    return is_due | Q(attempts__gt=len(PAUSES), **{f"{since}__lte": at - PAUSES[-1]})


def is_database_lost(error: BaseException | None) -> bool:
    """Return whether the database cannot be reached, or has ended the connection.

    On SQLite: its file cannot be opened or read, or stays locked for longer than the timeout.
    """
    cause = getattr(error, "__cause__", None)
    if isinstance(error, InterfaceError):
        return not isinstance(cause, sqlite3.Error)  # there, a value that it cannot store
    if not isinstance(error, OperationalError):
        return False
    if isinstance(cause, sqlite3.Error):
        return _sqlite_code(cause) in _LOST
    state = getattr(cause, "pgcode", None)  # None: there was no answer
    return state is None or state.startswith("08") or state in _SHUTDOWN


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether the disk of the files or of the database has no room left."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    cause = error.__cause__ if isinstance(error, Error) else None
    if isinstance(cause, sqlite3.Error):
        return _sqlite_code(cause) == sqlite3.SQLITE_FULL
    return getattr(cause, "pgcode", None) == "53100"


def _sqlite_code(error: sqlite3.Error) -> int:
    # An extended code has its reason in the upper bytes. An error of Python itself has none.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
