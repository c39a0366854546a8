"""Creating, using and revoking API tokens."""

import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from django.db import transaction

from arqlab.accounts.services.sessions import end_other_sessions
from arqlab.audit.services.identity import Action, require_identity
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import ApiToken, Lab, User

PREFIX = "arqlab_"
"""The beginning of every token, by which scanners recognize one in published code."""
ONCE_AN_HOUR = timedelta(hours=1)
MOST = 20
"""The most tokens of a person."""


@transaction.atomic
def create_token(
    *, user: User, name: str, scope: str, days: int, at: datetime, lab: Lab | None = None
) -> str:
    """Create a token and return it. It cannot be read again, because only its hash is stored.

    Raises `UserError` if the user already has as many tokens as a person may have, and asks who
    they are (`require_identity`).
    """
    require_identity(Action.CREATE_TOKEN, by=user, detail=name)
    # Lock the user: of two requests at once, the second must count the first's token.
    User.objects.select_for_update().get(pk=user.pk)
    if user.api_tokens.count() >= MOST:
        raise UserError(
            f"You have {MOST} API tokens, the most a person can have. Revoke one that you no longer"
            " use, then create the new one.",
            code="too-many-tokens",
        )
    text = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        scope=scope,
        lab=lab,
        digest=digest_of(text),
        created_at=at,
        expires_at=at + timedelta(days=days),
    )
    record_event("token.create", token, user, scope=scope, days=days)
    return text


@transaction.atomic
def revoke_token(*, token: ApiToken, by: User) -> None:
    """Delete a token; programs that use it are refused from now on."""
    record_event("token.revoke", token, by, scope=token.scope)
    token.delete()


class PasswordEndsTokens:
    """End the tokens and the other sessions of a user whose password changes: on a page, by a link
    or on the server.

    Django tells its password validators of each new password, wherever it was set.
    """

    def validate(self, password: str, user: object = None) -> None:
        """Accept the password; the other validators check it."""

    def password_changed(self, password: str, user: User) -> None:
        """Delete the tokens of the user, and end the sessions that the old password opened."""
        end_other_sessions(user=user)
        if ended := user.api_tokens.all().delete()[0]:
            record_event("token.end", user, user, tokens=ended)

    def get_help_text(self) -> str:
        """Return what a person should know about a new password."""
        return "Changing the password ends all API tokens of the account."


def token_from(text: str, *, at: datetime) -> ApiToken | None:
    """Return the valid token with this text, or None."""
    tokens = ApiToken.objects.select_related("user", "lab")
    return tokens.filter(digest=digest_of(text), expires_at__gt=at, user__is_active=True).first()


def record_use(*, token: ApiToken, at: datetime) -> None:
    """Record that a token was used, at most once an hour."""
    if token.last_used_at is None or token.last_used_at <= at - ONCE_AN_HOUR:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=at)


def digest_of(text: str) -> str:
    """Return the hash under which a token is stored. Tokens are random, so it needs no salt."""
    return sha256(text.encode()).hexdigest()
