"""What is scheduled for accounts."""

from arqlab.accounts.services.sessions import delete_ended_sessions
from arqlab.celery import scheduled


@scheduled(every=3600)
def sweep_sessions() -> None:
    """Delete the sessions that have ended."""
    delete_ended_sessions()
