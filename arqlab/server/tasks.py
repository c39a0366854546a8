"""What is scheduled for the server."""

from arqlab.celery import scheduled
from arqlab.server.services.health import record_heartbeat


@scheduled(every=15, lane="runs")
def beat() -> None:
    """Show that scheduled tasks run."""
    record_heartbeat()
