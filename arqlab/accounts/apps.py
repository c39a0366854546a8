"""The Django application of accounts, and what the log says about failed sign-ins."""

import logging

from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest

from arqlab.apps import LabApp

logger = logging.getLogger(__name__)


class AccountsConfig(LabApp):
    """Accounts: signing in, sessions, tokens, and what an account holds of a person."""

    name = "arqlab.accounts"
    label = "accounts"

    def ready(self) -> None:
        """Log failed sign-ins, and record the history of accounts."""
        super().ready()
        user_login_failed.connect(log_failed_sign_in)
        # Their models exist only now.
        from arqlab.accounts.services.personal import record_history
        from arqlab.audit.services.identity import connect_addresses

        record_history()
        connect_addresses()


def log_failed_sign_in(
    credentials: dict[str, object], request: HttpRequest | None = None, **_: object
) -> None:
    """Log the account and the address of a failed sign-in, which tools such as fail2ban read."""
    from allauth.account.adapter import get_adapter

    account = credentials.get("username") or credentials.get("email")
    address = get_adapter().get_client_ip(request) if request else "a command"
    logger.warning("Sign-in as %r from %s failed.", account, address)
