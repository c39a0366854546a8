"""What all permissions rest on. A page that a user may not see is 404."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from arqlab.core.models import Role, User

S = TypeVar("S")
_ONLY_READS = ContextVar("only_reads", default=False)


@contextmanager
def observers_pass(only_reads: bool) -> Iterator[None]:
    """Let observers pass as organizers while a request only reads, and not otherwise."""
    token = _ONLY_READS.set(only_reads)
    try:
        yield
    finally:
        _ONLY_READS.reset(token)


def organizing_roles() -> list[Role]:
    """Return the roles whose people pass as organizers.

    Observers do in requests that only read, so no code that changes something needs to think of
    them: commands, jobs and requests that are not known to read do not let them pass (ADR 0055).
    """
    return Role.seeing_all() if _ONLY_READS.get() else Role.organizing()


def allowed(subject: S, is_allowed: object) -> S:
    """Return the subject of a page if the user may open it; raise `Http404` otherwise."""
    if not is_allowed:
        raise Http404
    return subject


def signed_in(request: HttpRequest) -> User:
    """Return the signed-in user of a view; raise `PermissionDenied` for a visitor."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def require_administrator(request: HttpRequest) -> User:
    """Return the signed-in user if they administer the server; raise `PermissionDenied` if not."""
    user = signed_in(request)
    if not user.is_superuser:
        raise PermissionDenied
    return user
