"""Sessions and signed-in users, read with fixed SQL (see docs/adr/0017).

Every request needs the session and the user: a single statement reads both. With
Django's own, a judgment takes 16% more CPU, because it builds and compiles the queries each time.
"""

import time
from datetime import datetime, timedelta
from threading import local
from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends import db
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from arqlab.core.faults import is_database_lost
from arqlab.core.models import User
from arqlab.core.planned import Planned, Row

# Dates are left out and loaded on first use, because SQLite returns them as strings.
_FIELDS = tuple(
    field.attname
    for field in User._meta.concrete_fields
    if field.name not in ("last_login", "date_joined")
)
_COLUMNS = ", ".join(f"person.{field}" for field in _FIELDS)
# Only names of our own models are inserted.
_TABLE = User._meta.db_table
_PERSON = Planned(
    "person",
    f"SELECT {_COLUMNS} FROM {_TABLE} person WHERE id = %(user)s",  # noqa: S608
    user="bigint",
)
_SESSION = Planned(
    "session",
    f"""
    SELECT session_data, {_COLUMNS} FROM django_session
    LEFT JOIN {_TABLE} person ON person.id = %(user)s
    WHERE session_key = %(key)s AND expire_date > %(now)s
""",  # noqa: S608
    user="bigint",
    key="varchar",
    now="timestamptz",
)
EARLIER_BACKEND = "arqlab.core.signedin.Backend"
"""The path of `Backend` in version 0.1, which is stored in sessions from then."""
USED_AT = "used_at"
"""The key of the time, in seconds, at which the use of a session was recorded last."""
MOST = 10_000
_users: dict[str, int] = {}
"""Whose the sessions were, at most `MOST`. It is a guess: it only saves a query if it is right."""
_read = local()
"""The user that was read with the session of the request. Nobody asks for a user before that."""


def _first_row(statement: Planned, **parameters: object) -> Row | None:
    """Return a row, or None. This is the first statement of a request, so it takes the place of
    Django's check of the connection: one that was lost is replaced.
    """
    was_open = connection.connection is not None and not connection.in_atomic_block
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        return _row(statement, **parameters)
    except DatabaseError as error:
        if not (was_open and is_database_lost(error)):
            raise
    connection.close()
    return _row(statement, **parameters)


def _row(statement: Planned, **parameters: object) -> Row | None:
    with connection.cursor() as cursor:
        return next(iter(statement.ask(cursor, **parameters)), None)


class SessionStore(db.SessionStore):
    """Sessions in the database, as in Django."""

    def load(self) -> dict[str, Any]:
        """Return the data of the session, or nothing if it does not exist or has expired."""
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        key = str(self.session_key)
        row = _first_row(_SESSION, user=_users.get(key), key=key, now=now)
        _read.person = row and row[1:]
        if row is None:
            # An invented or expired key is not used again.
            self._session_key = None
            return {}
        data = self.decode(row[0])
        # The limit may be shorter than it was when the session was stored.
        if time.time() - data.get(USED_AT, time.time()) > settings.SESSION_COOKIE_AGE:
            self._session_key = _read.person = None
            return {}
        if data.get(BACKEND_SESSION_KEY) == EARLIER_BACKEND:
            data[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        _remember(key, data.get(SESSION_KEY))
        return data

    def save(self, must_create: bool = False) -> None:
        """Store the session, which is used now. Who signs in is read with the next request's."""
        data = self._get_session(no_load=must_create)  # type: ignore[attr-defined]
        if SESSION_KEY in data:
            data[USED_AT] = int(time.time())
        super().save(must_create=must_create)
        _remember(str(self.session_key), self.get(SESSION_KEY))

    def get_expiry_age(self, **kwargs: object) -> int:
        """Return the seconds until a session that is used now ends, also if it is an old one."""
        return min(int(super().get_expiry_age(**kwargs)), settings.SESSION_COOKIE_AGE)

    def get_expiry_date(self, **kwargs: object) -> datetime:
        """Return the time at which it ends."""
        latest = timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE)
        return min(super().get_expiry_date(**kwargs), latest)


def _remember(key: str, user: str | None) -> None:
    if user:
        if len(_users) >= MOST:
            _users.clear()
        _users[key] = int(user)


class Backend(AuthenticationBackend):
    """Sign-in by user name or email address, as in allauth."""

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session, or None if the account is gone or inactive."""
        row, _read.person = getattr(_read, "person", None), None
        if not row or row[0] != user_id:
            row = _row(_PERSON, user=user_id)
        user = User.from_db(connection.alias, _FIELDS, row) if row else None
        return user if user and self.user_can_authenticate(user) else None
