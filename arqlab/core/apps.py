"""The app's name for Django, and what the log says about bad requests."""

import logging
from importlib import import_module

from arqlab.apps import LabApp
from arqlab.core.faults import is_database_lost, is_disk_full


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
    """What all apps rest on: the models of people, labs and jobs, files, caches and faults."""

    name = "arqlab.core"
    label = "core"

    def ready(self) -> None:
        """Refuse to start with contradictory settings; read the converters of addresses."""
        import_module("arqlab.web.addresses")  # before any module of addresses
        from arqlab.core.checks import require_consistent_settings

        require_consistent_settings()
        super().ready()
