"""The sessions of a person: a list with the browser and the address of each, and their end."""

import logging
import time
from datetime import timedelta

from allauth.core import context
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from arqlab.accounts.signedin import USED_AT
from arqlab.audit.services.recording import record_event
from arqlab.core.models import User

# Browsers name those that they stand in for, too, so the most particular name comes first.
BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "", "Chrome": "", "Safari": ""}
SYSTEMS = {"Windows": "", "Android": "", "iPhone": "", "iPad": "", "Mac OS X": "macOS", "Linux": ""}
logger = logging.getLogger(__name__)
ONCE_AN_HOUR = 3600
"""Seconds after which the use of a session is recorded again."""


def sessions_of(user: User) -> QuerySet[UserSession]:
    """Return the sessions of a person that have not ended, last used first."""
    going_on = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    sessions: QuerySet[UserSession] = UserSession.objects.filter(
        user=user, session_key__in=going_on
    )
    return sessions.order_by("-last_seen_at", "-pk")


def browser_name(user_agent: str) -> str:
    """Return the browser and the system that a user agent names, or itself if it names neither."""
    browser = next((name for name in BROWSERS if f"{name}/" in user_agent), "")
    system = next((name for name in SYSTEMS if name in user_agent), "")
    if not browser or not system:
        return user_agent[:80] or "unknown"
    return f"{BROWSERS[browser] or browser} on {SYSTEMS[system] or system}"


def is_use_due(request: HttpRequest) -> bool:
    """Return whether the use of the session of a signed-in user is to be recorded now."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or not request.user.is_authenticated:
        return False
    return bool(time.time() - request.session.get(USED_AT, 0) >= ONCE_AN_HOUR)


def record_session_use(request: HttpRequest) -> None:
    """Record that a session is used now, from where and by which browser; its limit starts again.

    A database that takes no writes, such as one on a full disk, keeps nobody from reading.
    """
    try:
        UserSession.objects.create_from_request(request)
    except DatabaseError as error:
        logger.warning("The use of a session was not recorded: %s", error)
    else:
        request.session[USED_AT] = int(time.time())  # Django stores the session, and its cookie


@transaction.atomic
def end_session(*, session: UserSession, by: User) -> None:
    """End a session at once: its browser is signed out."""
    address, browser = session.ip, session.user_agent
    session.end()
    record_event("person.end-session", by, by, address=address, browser=browser[:200])


@transaction.atomic
def end_other_sessions(*, user: User) -> int:
    """End all sessions of a person but that of the request, if any; return their number."""
    current_key = context.request.session.session_key if context.request else None
    others = list(sessions_of(user).exclude(session_key=current_key))
    for session in others:
        session.end()
    if others:
        record_event("person.end-sessions", user, user, sessions=len(others))
    return len(others)


def delete_ended_sessions() -> None:
    """Delete the sessions that have ended, and from where and by which browser they were used."""
    call_command("clearsessions")
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()


def idle_limit() -> timedelta:
    """Return how long a session lasts without being used."""
    return timedelta(seconds=settings.SESSION_COOKIE_AGE)
