"""Oddities: what organizers check before they freeze, release or close something."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from django.urls import reverse

from arqkit.ids import visible
from arqlab.core.models import Task

MOST_NAMES = 5
"""The number of names that a sentence lists."""
CHANGED = (
    "This list has changed since you opened the page, or you have not seen it yet. Check it, then "
    "try again."
)
"""The message for an organizer whose list is out of date."""


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something odd: a sentence, the number of things it is about, and the page that shows them."""

    sentence: str
    count: int
    url: str


def oddities_digest(oddities: Iterable[Oddity]) -> str:
    """Return a digest of a list, which a page sends back to show which list its user saw."""
    return sha256("\n".join(one.sentence for one in oddities).encode()).hexdigest()


def submission_oddities(task: Task, *, at: datetime) -> list[Oddity]:
    """Return whether teams can still submit runs to a task, or not yet."""
    state = task.state(at)
    if state == "closed":
        return []
    if state == "upcoming" and task.opens_at:
        sentence = f"Submission has not opened yet. It opens on {utc_text(task.opens_at)}."
        return [Oddity(sentence, 1, task_url("core:task-edit", task))]
    if task.deadline:
        left = counted((task.deadline - at).days, "day", "days")
        sentence = f"Submission is open until {utc_text(task.deadline)}: {left} left."
    else:
        sentence = "Submission is open and has no deadline."
    return [Oddity(sentence, 1, task_url("submissions:task-close", task))]


def task_url(name: str, task: Task) -> str:
    """Return the address of a page of a task that takes no more arguments."""
    return reverse(name, args=[task.lab.slug, task.slug])


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with the singular or plural, such as `1 run is` or `1,200 runs are`.

    Without `many`, the plural has an s.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def name_list(names: Sequence[str]) -> str:
    """Return the first names with their invisible characters, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(map(visible, names[:MOST_NAMES])) + (f" and {more:,} more" if more > 0 else "")


def utc_text(at: datetime) -> str:
    """Return a time for readers, such as `3 May 2022, 11:59 UTC`."""
    return f"{at.day} {at:%B %Y, %H:%M} UTC"
