"""Oddities: what organizers check before they freeze, release or close something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.urls import reverse

from arqkit.topics import visible
from arqlab.core.models import Task

MOST_NAMES = 5
"""The number of names that a sentence lists."""
DEADLINES = {"deadline": "deadline", "judging_deadline": "judging deadline"}
"""The deadlines of a task by field, and their names in sentences."""
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
    return sha256("\n".join(oddity.sentence for oddity in oddities).encode()).hexdigest()


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


def past_deadlines(task: Task, changes: Mapping[str, Any], *, at: datetime) -> dict[str, str]:
    """Return a sentence on each new deadline of a task that lies in the past at a time, by field.

    The sentence says when it was and what it closes. Deadlines that the changes keep are not new.
    """
    sentences: dict[str, str] = {}
    for field, name in DEADLINES.items():
        new = changes.get(field)
        if new is None or new > at or new == getattr(task, field):
            continue
        effect = "assessors can still judge, but nobody is reminded"
        if field == "deadline":
            takes_post_hoc = changes.get("takes_post_hoc_runs", task.takes_post_hoc_runs)
            when = "stay closed" if task.state(at) == "closed" else "close at once"
            effect = "runs are post-hoc at once" if takes_post_hoc else f"submissions {when}"
        sentences[field] = f"The {name} of {task.name} was on {utc_text(new)}: {effect}."
    return sentences


def task_url(name: str, task: Task) -> str:
    """Return the address of a page of a task that takes no more arguments."""
    return reverse(name, args=[task.lab.slug, task.slug])


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number with the singular or plural, such as `1 run is` or `1,200 runs are`.

    Without `plural`, the plural is the singular with an s.
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def name_list(names: Sequence[str]) -> str:
    """Return the first names with their invisible characters, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(map(visible, names[:MOST_NAMES])) + (f" and {more:,} more" if more > 0 else "")


def utc_text(at: datetime) -> str:
    """Return a time for readers, such as `3 May 2022, 11:59 UTC`."""
    return f"{at.day} {at:%B %Y, %H:%M} UTC"
