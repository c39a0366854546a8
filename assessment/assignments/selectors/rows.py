"""Rows of the page of assignments: topics, people, and the estimated completion of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from typing import NamedTuple

from arqkit.judgments.completion import Pace
from arqlab.core.models import Topic, User
from assessment.models import Assignment

NO_PACE = Pace()


class TopicCounts(NamedTuple):
    """The items of a topic: all, completed, and those left to judge in open pools.

    `labels` and `labels_left` count the labels that all items and those left need. A topic that is
    set aside has no items left to judge, although its items stay open.
    """

    total: int = 0
    done: int = 0
    left: int = 0
    labels: int = 0
    labels_left: int = 0
    is_set_aside: bool = False


@dataclass(frozen=True)
class JudgedCounts:
    """The judgments of a person in a topic: items, pace, recent labels, first and last time.

    `lately` and `first` exclude imported judgments.
    """

    items: int = 0
    pace: Pace = NO_PACE
    lately: int = 0
    first: datetime | None = None
    last: datetime | None = None


@dataclass
class Share:
    """A person's part of a topic. `assignment` is None if they judged in it earlier."""

    person: User
    judged: JudgedCounts
    assignment: Assignment | None = None
    may_judge: bool = True
    left: int = 0
    labels_left: int = 0
    finish: datetime | None = None


@dataclass
class TopicRow:
    """A topic with the counts of its items, as in TopicCounts, and its assessors."""

    topic: Topic
    total: int
    done: int
    left: int
    labels: int
    labels_left: int
    is_set_aside: bool
    shares: dict[int, Share] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def difficulty(self) -> str:
        """Return the difficulty in the topic information, or ""."""
        return self.topic.facts.get("difficulty", "")

    @property
    def open_shares(self) -> list[Share]:
        """Return the shares with an assignment, even of users who may no longer judge."""
        return [share for share in self.shares.values() if share.assignment]

    @property
    def judging_shares(self) -> list[Share]:
        """Return the shares of the assigned users who may judge."""
        return [share for share in self.open_shares if share.may_judge]

    @property
    def state(self) -> str:
        """Return the state of the topic for the state chip."""
        if not self.total:
            return "no-items"
        if self.left and not self.judging_shares:
            return "unassigned"
        if self.left:
            is_started = self.done or any(share.judged.items for share in self.shares.values())
            return "in-progress" if is_started else "not-started"
        if self.done < self.total:
            return "set-aside" if self.is_set_aside else "closed"
        given = (share.assignment for share in self.shares.values())
        return "in-review" if any(own and own.reviewed_since for own in given) else "done"

    def state_of(self, share: Share) -> str:
        """Return the state of the topic for one assessor, who may not have started yet."""
        state = self.state
        return "not-started" if state == "in-progress" and not share.judged.items else state

    @property
    def pace(self) -> Pace:
        """Return the combined pace of all assessors in the topic."""
        return together(share.judged.pace for share in self.shares.values())

    @property
    def seconds_left(self) -> float:
        """Return the expected seconds for the items left."""
        return self.labels_left * self.seconds

    @property
    def hours(self) -> float:
        """Return the expected hours for the items left."""
        return self.seconds_left / 3600

    @property
    def finish(self) -> datetime | None:
        """Return the estimated completion of the topic, or None if it is not known for everyone."""
        ends = [share.finish for share in self.judging_shares]
        return max((end for end in ends if end), default=None) if all(ends) else None


@dataclass(frozen=True)
class PersonRow:
    """A person with the states of their topics and the items left."""

    person: User
    may_judge: bool
    is_assessor: bool
    states: dict[str, int]
    judged: int
    left: int
    pace: Pace
    hours: float
    last: datetime | None
    finish: datetime | None
    deadline: datetime | None

    @property
    def is_late(self) -> bool:
        """Return whether the estimated completion is after the judging deadline."""
        return bool(self.finish and self.deadline and self.finish > self.deadline)

    @property
    def topics(self) -> int:
        """Return the number of assigned topics."""
        return sum(self.states.values())


@dataclass(frozen=True)
class TopicRows:
    """Topics, with what is left to judge in all."""

    rows: Sequence[TopicRow]

    @property
    def has_difficulty(self) -> bool:
        """Return whether a topic has a difficulty."""
        return any(row.difficulty for row in self.rows)

    @property
    def left(self) -> int:
        """Return the number of items left in all topics; shared items count for every assessor."""
        return sum(row.left for row in self.rows)

    @property
    def seconds_left(self) -> float:
        """Return the expected seconds for the items left."""
        return sum(row.seconds_left for row in self.rows)


@dataclass(frozen=True)
class AssignmentGrid(TopicRows):
    """All topics of a task, and all users who have judged them or may judge them."""

    people: list[PersonRow]

    @property
    def judges(self) -> list[PersonRow]:
        """Return the assessors, and other users who have topics or judgments."""
        return [row for row in self.people if row.is_assessor or row.states or row.judged]

    @property
    def total(self) -> int:
        """Return the number of items."""
        return sum(row.total for row in self.rows)

    @property
    def done(self) -> int:
        """Return the number of items with all labels."""
        return sum(row.done for row in self.rows)

    @property
    def unassigned(self) -> list[TopicRow]:
        """Return the topics with items left and no assigned user who may judge."""
        return [row for row in self.rows if row.state == "unassigned"]

    @property
    def late_people(self) -> list[PersonRow]:
        """Return the people who are expected to finish after the judging deadline."""
        return [row for row in self.people if row.is_late]

    @property
    def finish(self) -> datetime | None:
        """Return the estimated completion of the task, or None if it is not known for everyone."""
        ends = [row.finish for row in self.people if row.left]
        if not ends or not all(ends) or self.unassigned:
            return None
        return max(end for end in ends if end)


def together(paces: Iterable[Pace]) -> Pace:
    """Return the combined pace."""
    return reduce(Pace.plus, paces, NO_PACE)
