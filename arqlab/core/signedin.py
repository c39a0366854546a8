"""Sessions and signed-in users, read with fixed SQL (see docs/adr/0017).

Every request needs the session and the user. Without these two statements, a judgment takes 16%
more CPU, because Django builds and compiles the queries each time.
"""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.sessions.backends import db
from django.db import connection
from django.utils import timezone

from arqlab.core.models import User

_SESSION = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"
# Dates are left out and loaded on first use, because SQLite returns them as strings.
_FIELDS = tuple(
    field.attname
    for field in User._meta.concrete_fields
    if field.name not in ("last_login", "date_joined")
)
# Only names of our own model are inserted.
_PERSON = f"SELECT {', '.join(_FIELDS)} FROM {User._meta.db_table} WHERE id = %s"  # noqa: S608


class SessionStore(db.SessionStore):
    """Sessions in the database, as in Django."""

    def load(self) -> dict[str, Any]:
        """Return the data of the session, or nothing if it does not exist or has expired."""
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        with connection.cursor() as cursor:
            cursor.execute(_SESSION, [self.session_key, now])
            row = cursor.fetchone()
        if row is None:
            # An invented or expired key is not used again.
            self._session_key = None
            return {}
        return self.decode(row[0])


class Backend(AuthenticationBackend):
    """Sign-in by user name or email address, as in allauth."""

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session, or None if the account is gone or inactive."""
        with connection.cursor() as cursor:
            cursor.execute(_PERSON, [user_id])
            row = cursor.fetchone()
        user = User.from_db(connection.alias, _FIELDS, row) if row else None
        return user if user and self.user_can_authenticate(user) else None
