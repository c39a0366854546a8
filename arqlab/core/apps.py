"""The app's name for Django, and the log of failed sign-ins."""

from __future__ import annotations

import logging
from typing import Any

from django.apps import AppConfig
from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest

logger = logging.getLogger(__name__)


class CoreConfig(AppConfig):
    """People, labs, tasks, topics and teams."""

    name = "arqlab.core"
    label = "core"

    def ready(self) -> None:
        """Log each failed sign-in."""
        user_login_failed.connect(log_failed_sign_in)


def log_failed_sign_in(
    credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any
) -> None:
    """Log the account and the address of a failed sign-in, which tools such as fail2ban read."""
    from allauth.account.adapter import get_adapter

    account = credentials.get("username") or credentials.get("email")
    address = get_adapter().get_client_ip(request) if request else "a command"
    logger.warning("Sign-in as %r from %s failed.", account, address)
