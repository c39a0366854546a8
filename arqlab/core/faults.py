"""Whose fault an error is: what passes when the server is well again, and everything else.

A mistake of a user is data with a line number or a `UserError`, never one of these.
"""

from __future__ import annotations

import errno
import sqlite3

from django.db import Error, InterfaceError, OperationalError

_LOST = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
_SHUTDOWN = {"57P01", "57P02", "57P03", "53300"}
"""PostgreSQL ends, has crashed, starts, or has no connection left."""


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
