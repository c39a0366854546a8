"""The app's name for Django, and what the log says about bad requests and failed sign-ins."""

import logging
from importlib import import_module
from typing import Any

from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest

from arqlab.apps import LabApp
from arqlab.core.faults import is_database_lost, is_disk_full

logger = logging.getLogger(__name__)


class OneLineForBadRequests(logging.Filter):
    """Log a request that Django refuses in one line, because strangers can send any number.

    So is what fails without a database or with a full disk: the line ends with the reason. Only
    mistakes of ours have a traceback. A line break in an address cannot start another line.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True, after a record of a bad request or a lost database is without traceback."""
        error = record.exc_info[1] if record.exc_info else None
        is_lost = is_database_lost(error) or is_disk_full(error)
        if is_lost or 400 <= getattr(record, "status_code", 0) < 500:
            record.exc_info = record.exc_text = None
            text = record.getMessage()
            record.msg = " ".join((f"{text}: {error}" if is_lost else text).split())
            record.args = ()
        return True


class CoreConfig(LabApp):
    """People, labs, tasks, topics and teams."""

    name = "arqlab.core"
    label = "core"

    def ready(self) -> None:
        """Refuse to start with contradictory settings; log failed sign-ins, record the history of
        accounts, and read what the app declares and the converters of addresses.
        """
        import_module("arqlab.web.addresses")  # before any module of addresses
        from arqlab.core.checks import require_consistent_settings

        require_consistent_settings()
        super().ready()
        user_login_failed.connect(log_failed_sign_in)
        # Its models exist only now.
        from arqlab.core.services.identity import connect_addresses
        from arqlab.core.services.personal import record_history

        record_history()
        connect_addresses()


def log_failed_sign_in(
    credentials: dict[str, object], request: HttpRequest | None = None, **_: Any
) -> None:
    """Log the account and the address of a failed sign-in, which tools such as fail2ban read."""
    from allauth.account.adapter import get_adapter

    account = credentials.get("username") or credentials.get("email")
    address = get_adapter().get_client_ip(request) if request else "a command"
    logger.warning("Sign-in as %r from %s failed.", account, address)
