"""What all permissions rest on. A page that a user may not see is 404."""

from typing import TypeVar

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from arqlab.core.models import User

S = TypeVar("S")


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
