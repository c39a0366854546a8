"""Creating, using and revoking API tokens."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from django.db import transaction

from arqlab.core.models import ApiToken, User
from arqlab.core.services.audit import record_event

PREFIX = "arqlab_"
"""The beginning of every token, by which scanners recognize one in published code."""
ONCE_AN_HOUR = timedelta(hours=1)


@transaction.atomic
def create_token(*, user: User, name: str, scope: str, days: int, at: datetime) -> str:
    """Create a token and return it. It cannot be read again, because only its hash is stored."""
    text = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        scope=scope,
        digest=digest_of(text),
        created_at=at,
        expires_at=at + timedelta(days=days),
    )
    record_event(verb="token.create", target=token, lab=None, actor=user, scope=scope, days=days)
    return text


@transaction.atomic
def revoke_token(*, token: ApiToken, by: User) -> None:
    """Delete a token; programs that use it are refused from now on."""
    record_event(verb="token.revoke", target=token, lab=None, actor=by, scope=token.scope)
    token.delete()


def token_from(text: str, *, at: datetime) -> ApiToken | None:
    """Return the valid token with this text, or None."""
    tokens = ApiToken.objects.select_related("user")
    return tokens.filter(digest=digest_of(text), expires_at__gt=at, user__is_active=True).first()


def record_use(*, token: ApiToken, at: datetime) -> None:
    """Record that a token was used, at most once an hour."""
    if token.last_used_at is None or token.last_used_at <= at - ONCE_AN_HOUR:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=at)


def digest_of(text: str) -> str:
    """Return the hash under which a token is stored. Tokens are random, so it needs no salt."""
    return sha256(text.encode()).hexdigest()
