"""How programs sign in to the API (`Authorization: Bearer TOKEN`), and how often they may ask."""

from functools import partial

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import APIException, AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle

from arqlab.accounts.permissions import NO_SECOND_FACTOR, needs_second_factor
from arqlab.accounts.services.tokens import record_use, token_from
from arqlab.core.caches import request_counts
from arqlab.core.models import ApiToken, User
from arqlab.core.visits import Visit, after_visit


class InvalidToken(AuthenticationFailed):
    """A token that does not exist, has expired or was revoked."""

    default_code = "invalid-token"
    default_detail = "This API token is not valid or was revoked. Create one on your account page."


class NoSecondFactor(APIException):
    """A token of somebody who must set up a second factor first."""

    status_code = 403
    default_code = "no-second-factor"
    default_detail = NO_SECOND_FACTOR


class TokenAuthentication(BaseAuthentication):
    """Sign in by an API token, within its scope."""

    def authenticate_header(self, request: Request) -> str:
        """Return how to sign in, which makes the answer to a visitor 401."""
        return 'Bearer realm="ArqLab"'

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the user and the token of a request, or None if it has no token.

        Raises `InvalidToken`, `NoSecondFactor`, and `PermissionDenied` for what is outside the
        token's scope or lab.
        """
        scheme, _, text = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        at = timezone.now()
        token = token_from(text.strip().decode("latin-1"), at=at)
        if token is None:
            raise InvalidToken
        if needs_second_factor(token.user):
            raise NoSecondFactor
        after_visit(request, Visit.TOKEN, partial(record_use, token=token, at=at))
        _require_scope(token, request)
        return token.user, token


def _require_scope(token: ApiToken, request: Request) -> None:
    """Raise `PermissionDenied` for a request outside the lab or the scope of its token.

    A view that changes something names the scope that is enough for it. A token of a lab opens the
    addresses of the lab, and says whose it is.
    """
    view, place = request.parser_context["view"], request.parser_context["kwargs"]
    lab = None if getattr(view, "of_every_token", False) else token.lab
    if lab and place.get("lab") != lab.slug:
        raise PermissionDenied(
            f"This API token is for {lab} only. Create one for all labs on your account page."
        )
    enough = {ApiToken.Scope.WRITE, getattr(view, "scope", ApiToken.Scope.WRITE)}
    if request.method not in SAFE_METHODS and token.scope not in enough:
        raise PermissionDenied(
            f"This API token can only {token.get_scope_display().lower()}. Create one that can do "
            "this on your account page."
        )


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The description of API tokens in the schema of the API."""

    target_class = TokenAuthentication
    name = "apiToken"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return the definition of a bearer token."""
        return {"type": "http", "scheme": "bearer"}


class VisitorThrottle(AnonRateThrottle):
    """The limit of requests without a token, by address."""

    cache = request_counts


class UserThrottle(UserRateThrottle):
    """The limit of requests of a user."""

    cache = request_counts
