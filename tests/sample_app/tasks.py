"""A job, and what is scheduled."""

from collections.abc import Iterable
from typing import Any

from arqlab.celery import scheduled
from arqlab.web.jobs import declare_job


def greet(work: Any) -> Iterable[str]:
    """Return a sentence with the number of topics."""
    return [f"{work.task.topics.count()} topics greeted."]


declare_job("greeting", "Greeting", greet)


@scheduled(every=3600)
def greet_nobody() -> None:
    """Do nothing, once an hour."""
