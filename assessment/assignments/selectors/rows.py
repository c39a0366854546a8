"""Rows of the page of assignments: topics, people, and the estimated completion of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from arqlab.core.models import Topic, User
from arqlab.ir.judgments.completion import Pace
from arqlab.ir.records import TaskKind
from assessment.models import Assignment

NO_PACE = Pace()


@dataclass(frozen=True)
class JudgedCounts:
    """What a person judged of a topic: items, their pace, how many of them lately and since when
    here, and the last time.
    """

    items: int = 0
    pace: Pace = NO_PACE
    lately: int = 0
    first: datetime | None = None
    last: datetime | None = None


@dataclass
class Share:
    """A person's part of a topic. Without `assignment` they judged some of it and have it no
    longer.
    """

    person: User
    judged: JudgedCounts
    assignment: Assignment | None = None
    may_judge: bool = True
    left: int = 0
    finish: datetime | None = None


@dataclass
class TopicRow:
    """A topic with its items, and who judges them. `left` are those without label in pools that are
    open.
    """

    topic: Topic
    total: int
    done: int
    left: int
    kind: TaskKind
    shares: dict[int, Share] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def open_shares(self) -> list[Share]:
        """Return the shares of those who have the topic; some of them may not judge any more."""
        return [share for share in self.shares.values() if share.assignment]

    @property
    def judging_shares(self) -> list[Share]:
        """Return the shares of those who judge the topic now."""
        return [share for share in self.open_shares if share.may_judge]

    @property
    def state(self) -> str:
        """Return the state of the topic, one of the chips."""
        if not self.total:
            return "no-items"
        if not self.left:
            return self._finished_state()
        if not self.judging_shares:
            return "unassigned"
        is_begun = self.done or any(share.judged.items for share in self.shares.values())
        return "in-progress" if is_begun else "not-begun"

    def state_of(self, share: Share) -> str:
        """Return the state of the topic for one of those who judge it: others may have begun before
        them.
        """
        state = self.state
        return "not-begun" if state == "in-progress" and not share.judged.items else state

    def _finished_state(self) -> str:
        if self.done < self.total:
            return "closed"
        is_reviewed = any(
            share.assignment.reviewed_since for share in self.open_shares if share.assignment
        )
        return "in-review" if is_reviewed else "done"

    @property
    def pace(self) -> Pace:
        """Return the pace of all who judged in the topic."""
        return together(share.judged.pace for share in self.shares.values())

    @property
    def seconds_left(self) -> float:
        """Return the seconds that judging the rest takes."""
        return self.left * self.seconds

    @property
    def hours(self) -> float:
        """Return the hours that judging the rest takes."""
        return self.seconds_left / 3600

    @property
    def finish(self) -> datetime | None:
        """Return when the last of those who share the topic will be finished with it."""
        found = [share.finish for share in self.judging_shares]
        return max((moment for moment in found if moment), default=None) if all(found) else None


@dataclass
class PersonRow:
    """A person who judges, with their topics by state and what is left to them."""

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


@dataclass
class AssignmentGrid:
    """All topics of a task with who judges them, and all people with what they judge."""

    topics: list[TopicRow]
    people: list[PersonRow]

    @property
    def judges(self) -> list[PersonRow]:
        """Return the assessors, and who else has or judged topics; other organizers could have some."""
        return [row for row in self.people if row.is_assessor or row.states or row.judged]

    @property
    def total(self) -> int:
        """Return the items of all topics."""
        return sum(row.total for row in self.topics)

    @property
    def done(self) -> int:
        """Return the items that have all their labels."""
        return sum(row.done for row in self.topics)

    @property
    def seconds_left(self) -> float:
        """Return the seconds that judging the rest takes."""
        return sum(row.seconds_left for row in self.topics)

    @property
    def unassigned(self) -> list[TopicRow]:
        """Return the topics with items left that nobody has who may judge them."""
        return [row for row in self.topics if row.state == "unassigned"]

    @property
    def finish(self) -> datetime | None:
        """Return when the last person will be finished; None where that cannot be told of all."""
        found = [row.finish for row in self.people if row.left]
        return (
            max(moment for moment in found if moment)
            if found and all(found) and not self.unassigned
            else None
        )


def together(paces: Iterable[Pace]) -> Pace:
    """Return the pace of all together."""
    found = NO_PACE
    for pace in paces:
        found = found.plus(pace)
    return found
