"""Oddities: what organizers check before they freeze, release or close something."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.web import counted, name_list, task_url, utc_text

DEADLINES = {"deadline": "deadline", "judging_deadline": "judging deadline"}
"""The deadlines of a task by field, and their names in sentences."""
COLOURS = ("red", "amber", "green")


@dataclass(frozen=True, slots=True)
class Oddity:
    """A check: a sentence, the number of odd things, and the page that shows and fixes them.

    A check that counts nothing is green, and says what is `fine`. A red one must be acknowledged.
    `leave_out` has the reasons, by the field of a form, that leave out everything it counts.
    """

    sentence: str
    count: int
    url: str
    fine: str
    is_red: bool = False
    leave_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CeremonyRow:
    """A row of the table of a ceremony: a check, its colour, and what leaves out all it counts."""

    check: Oddity
    colour: str
    is_left_out: bool
    leave_out: str


class Ceremony:
    """The checks before something is frozen, released or closed.

    `reasons` has the reasons for what is left out, by the field of the form, also the empty ones. A
    check turns green when everything that it counts is left out.
    """

    def __init__(
        self, checks: Iterable[Oddity], reasons: Mapping[str, object] | None = None
    ) -> None:
        """List the checks, red ones first."""
        self.reasons = reasons or {}
        rows = [self._row(check) for check in checks]
        self.rows = sorted(rows, key=lambda row: COLOURS.index(row.colour))
        self.oddities = [row.check for row in rows if row.check.count]
        self.reds = [row.check for row in self.rows if row.colour == "red"]

    @property
    def digest(self) -> str:
        """Return a digest of what is odd, which a page sends back to show what its user saw."""
        sentences = "\n".join(oddity.sentence for oddity in self.oddities)
        return sha256(sentences.encode()).hexdigest()

    def require_acknowledged(self, sent: Mapping[str, object]) -> None:
        """Raise `UserError` unless the organizer saw this list and acknowledged what is red."""
        if sent.get("seen") != self.digest:
            raise UserError(
                "This list has changed since you opened the page, or you have not seen it yet. "
                "Check it, then try again.",
                code="changed",
            )
        if self.reds and not sent.get("acknowledged"):
            raise UserError(
                "Some checks are red. Fix them, leave out what they are about, or confirm that you "
                "want to continue anyway.",
                code="unacknowledged",
            )

    def _row(self, check: Oddity) -> CeremonyRow:
        fields = check.leave_out.keys()
        is_left_out = bool(fields) and all(map(self.reasons.get, fields))
        is_fine = not check.count or is_left_out
        colour = "green" if is_fine else "red" if check.is_red else "amber"
        can_leave_out = check.count and fields and fields <= self.reasons.keys()
        offer = urlencode(check.leave_out) if can_leave_out and not is_left_out else ""
        return CeremonyRow(check, colour, is_left_out, offer)


def with_left_out(data: QueryDict) -> QueryDict:
    """Return a form's data with reasons for the topics picked, and for what a button leaves out."""
    filled = data.copy()
    for topic in filled.pop("picked", []):
        name = f"topics-{topic}"
        filled[name] = data.get(name) or data.get("picked_reason", "")
    for name, reason in QueryDict(data.get("leave_out", "")).items():
        filled[name] = str(reason)
    return filled


def is_preview(data: Mapping[str, object]) -> bool:
    """Return whether the form of a ceremony asks for its page again instead of going on."""
    return bool({"preview", "leave_out"} & data.keys())


def named_oddity(
    names: Sequence[str], things: tuple[str, str], url: str, fine: str, **fields: Any
) -> Oddity:
    """Return a check that names what it counts, of which `things` says what is odd."""
    sentence = f"{counted(len(names), *things)}: {name_list(names)}."
    return Oddity(sentence, len(names), url, fine, **fields)


def submission_oddities(task: Task, *, at: datetime) -> list[Oddity]:
    """Return the check whether teams can still submit runs to a task, or not yet."""
    state, url, sentence = task.state(at), task_url("task-close", task), ""
    if state == "upcoming" and task.opens_at:
        sentence = f"Submission has not opened yet. It opens on {utc_text(task.opens_at)}."
        url = task_url("labs:task-edit", task)
    elif state != "closed" and task.deadline:
        days_left = counted((task.deadline - at).days, "day", "days")
        sentence = f"Submission is open until {utc_text(task.deadline)}: {days_left} left."
    elif state != "closed":
        sentence = "Submission is open and has no deadline."
    return [Oddity(sentence, int(bool(sentence)), url, "Submission is closed.", is_red=True)]


def past_deadlines(task: Task, changes: Mapping[str, Any], *, at: datetime) -> dict[str, str]:
    """Return a sentence on each new deadline of a task that lies in the past at a time, by field.

    The sentence says when it was and what it closes. Deadlines that the changes keep are not new.
    """
    sentences: dict[str, str] = {}
    for deadline, name in DEADLINES.items():
        new = changes.get(deadline)
        if new is None or new > at or new == getattr(task, deadline):
            continue
        effect = "assessors can still judge, but nobody is reminded"
        if deadline == "deadline":
            takes_post_hoc = changes.get("takes_post_hoc_runs", task.takes_post_hoc_runs)
            when = "stay closed" if task.state(at) == "closed" else "close at once"
            effect = "runs are post-hoc at once" if takes_post_hoc else f"submissions {when}"
        sentences[deadline] = f"The {name} of {task.name} was on {utc_text(new)}: {effect}."
    return sentences
