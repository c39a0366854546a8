"""Who is signed in. Every request asks for the session and the person, and to build and compile the
two questions anew each time took Django a third of what a judgment costs a web process; so they are
written in SQL (see docs/adr/0017)."""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.sessions.backends import db
from django.db import connection
from django.utils import timezone

from arqlab.core.models import User

_SESSION = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"
# What else a person has is read when it is asked for: moments are no moments yet where SQLite gives
# them.
_FIELDS = tuple(
    field.attname
    for field in User._meta.concrete_fields
    if field.name not in ("last_login", "date_joined")
)
# names of ours
_PERSON = f"SELECT {', '.join(_FIELDS)} FROM {User._meta.db_table} WHERE id = %s"  # noqa: S608


class SessionStore(db.SessionStore):
    """Sessions in the database, as Django keeps them."""

    def load(self) -> dict[str, Any]:
        """Return what the session holds; nothing where there is none, or where it has ended."""
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        with connection.cursor() as cursor:
            cursor.execute(_SESSION, [self.session_key, now])
            found = cursor.fetchone()
        if found is None:
            self._session_key = (
                None  # a key that somebody made up, or that has ended, is not used again
            )
            return {}
        return self.decode(found[0])


class Backend(AuthenticationBackend):
    """Sign-in by user name or e-mail address, as allauth does it."""

    def get_user(self, user_id: int) -> User | None:
        """Return the person that a session names; None where they are gone or may not sign in any
        more.
        """
        with connection.cursor() as cursor:
            cursor.execute(_PERSON, [user_id])
            found = cursor.fetchone()
        user = User.from_db(connection.alias, _FIELDS, found) if found else None
        return user if user and self.user_can_authenticate(user) else None
