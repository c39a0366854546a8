"""Sessions and signed-in users, read with fixed SQL (see docs/adr/0017).

Every request needs the session and the user. Without these two statements, a judgment takes 16%
more CPU, because Django builds and compiles the queries each time.
"""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.sessions.backends import db
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from arqlab.core.faults import is_database_lost
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


def _first_row(statement: str, parameters: list[Any]) -> Any:
    """Return a row, or None. This is the first statement of a request, so it takes the place of
    Django's check of the connection: one that was lost is replaced.
    """
    was_open = connection.connection is not None and not connection.in_atomic_block
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        return _row(statement, parameters)
    except DatabaseError as error:
        if not (was_open and is_database_lost(error)):
            raise
    connection.close()
    return _row(statement, parameters)


def _row(statement: str, parameters: list[Any]) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchone()


class SessionStore(db.SessionStore):
    """Sessions in the database, as in Django."""

    def load(self) -> dict[str, Any]:
        """Return the data of the session, or nothing if it does not exist or has expired."""
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        row = _first_row(_SESSION, [self.session_key, now])
        if row is None:
            # An invented or expired key is not used again.
            self._session_key = None
            return {}
        return self.decode(row[0])


class Backend(AuthenticationBackend):
    """Sign-in by user name or email address, as in allauth."""

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session, or None if the account is gone or inactive."""
        row = _row(_PERSON, [user_id])
        user = User.from_db(connection.alias, _FIELDS, row) if row else None
        return user if user and self.user_can_authenticate(user) else None
