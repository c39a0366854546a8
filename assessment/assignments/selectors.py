"""Who judges what, how far they are, and when they will be finished."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet, Sum

from arqlab.core.models import Lab, Membership, Task, Topic, User
from arqlab.ir.judgments.completion import RECENT, Pace, estimated_completions, expected_seconds
from arqlab.ir.records import TaskKind
from assessment.models import Assignment, Judgment, PoolItem

NO_PACE = Pace()
JUDGING_ROLES = (Membership.Role.ASSESSOR, Membership.Role.ORGANIZER)
TOPIC_TEXTS = ("title", "body", "title_html", "body_html", "formula_html")
"""Fields of topics that lists leave unread: typeset, they are long."""


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
        return _together(share.judged.pace for share in self.shares.values())

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


def judging_staff(lab: Lab) -> QuerySet[User]:
    """Return those who may judge in a lab, assessors before organizers, each once with the first of
    their roles as `role`.
    """
    roles = Membership.objects.filter(lab=lab, role__in=JUDGING_ROLES)
    found = User.objects.filter(memberships__in=roles).annotate(role=Min("memberships__role"))
    return found.order_by("role", "first_name", "last_name", "username")


def assignment_grid(task: Task, *, at: datetime) -> AssignmentGrid:
    """Return who judges what of a task and when they will be finished, in five queries; one more
    where labels are of people who may judge no longer."""
    counts = topic_counts(PoolItem.objects.filter(pool__task=task))
    judged = judged_by(Judgment.objects.filter(instance__item__pool__task=task), at=at)
    open_ones = Assignment.objects.filter(topic__task=task, ended_at=None).select_related(
        "assessor"
    )
    staff = {person.pk: person for person in judging_staff(task.lab)}
    rows = {
        topic.pk: TopicRow(topic, *counts.get(topic.pk, (0, 0, 0)), TaskKind(task.kind))
        for topic in task.topics.only("query_id", "position", "task_id").order_by("position")
    }
    people = dict(staff)
    for one in open_ones:
        people.setdefault(one.assessor_id, one.assessor)
        known = judged.pop((one.topic_id, one.assessor_id), JudgedCounts())
        rows[one.topic_id].shares[one.assessor_id] = Share(
            one.assessor, known, one, one.assessor_id in staff
        )
    people |= User.objects.in_bulk({person_id for _, person_id in judged} - people.keys())
    for (topic_id, person_id), known in judged.items():
        rows[topic_id].shares[person_id] = Share(people[person_id], known)
    grid = AssignmentGrid(list(rows.values()), [])
    _forecast(grid, people, set(staff), at)
    return grid


def topic_counts(items: QuerySet[PoolItem]) -> dict[int, tuple[int, int, int]]:
    """Count items by topic: all, those done, and those left in pools that are open."""
    waiting = Count("pk", filter=Q(done_at=None, pool__closed_at=None))
    counted = (
        items.order_by()
        .values("topic")
        .annotate(total=Count("pk"), done=Count("done_at"), left=waiting)
    )
    return {
        topic: (total, done, left)
        for topic, total, done, left in counted.values_list("topic", "total", "done", "left")
    }


def judged_by(
    judgments: QuerySet[Judgment], *, at: datetime
) -> dict[tuple[int, int], JudgedCounts]:
    """Sum up the judgments that count by topic and person; those without a person are left out.

    What was imported says nothing of how much is judged in a day: its file may give the moment of
    the import for all.
    """
    is_judged_here = Q(is_imported=False)
    found: QuerySet[Any, Any] = (
        judgments.filter(is_current=True, assessor__isnull=False)
        .order_by()
        .values("instance__item__topic", "assessor")
        .annotate(
            items=Count("instance__item", distinct=True),
            timed=Count("instance__item", distinct=True, filter=Q(active_ms__isnull=False)),
            time=Sum("active_ms", default=0),
            lately=Count(
                "instance__item",
                distinct=True,
                filter=is_judged_here & Q(judged_at__gt=at - RECENT),
            ),
            first=Min("judged_at", filter=is_judged_here),
            last=Max("judged_at"),
        )
        .values_list(
            "instance__item__topic", "assessor", "items", "timed", "time", "lately", "first", "last"
        )
    )
    return {
        (topic, person): JudgedCounts(count, Pace(timed, active_ms / 1000), lately, first, last)
        for topic, person, count, timed, active_ms, lately, first, last in found
    }


def _together(paces: Iterable[Pace]) -> Pace:
    found = NO_PACE
    for pace in paces:
        found = found.plus(pace)
    return found


def _forecast(
    grid: AssignmentGrid, people: Mapping[int, User], staff: Collection[int], at: datetime
) -> None:
    """Fill in what is expected: seconds by topic, then what is left to each person, and their row."""
    by_person = {
        pk: _together(row.shares[pk].judged.pace for row in grid.topics if pk in row.shares)
        for pk in people
    }
    everybody = _together(by_person.values())
    for row in grid.topics:
        judges = [share.person.pk for share in row.judging_shares]
        theirs = _together(by_person[pk] for pk in judges)
        row.seconds = expected_seconds([row.pace, theirs, everybody], kind=row.kind)
        for pk in judges:
            row.shares[pk].left = ceil(row.left / len(judges))
    grid.people = [
        _person_row(grid, person, by_person[pk], may_judge=pk in staff, at=at)
        for pk, person in people.items()
    ]


def _person_row(
    grid: AssignmentGrid, person: User, pace: Pace, *, may_judge: bool, at: datetime
) -> PersonRow:
    """Sum up a person's topics. They are expected to judge what is begun before the rest, each in
    the task's order.
    """
    rows = sorted(
        (row for row in grid.topics if person.pk in row.shares),
        key=lambda row: (not row.shares[person.pk].judged.items, row.topic.position),
    )
    shares = [row.shares[person.pk] for row in rows]
    mine = [(row, share) for row, share in zip(rows, shares, strict=True) if share.assignment]
    first = min((share.judged.first for share in shares if share.judged.first), default=None)
    lately = sum(share.judged.lately for share in shares)
    ends = estimated_completions(
        [share.left for _, share in mine], recent=lately, since=first, at=at
    )
    for (_, share), end in zip(mine, ends, strict=True):
        share.finish = end
    states = [row.state_of(share) for row, share in mine]
    return PersonRow(
        person=person,
        may_judge=may_judge,
        is_assessor=getattr(person, "role", "") == Membership.Role.ASSESSOR,
        states={state: states.count(state) for state in dict.fromkeys(states)},
        judged=sum(share.judged.items for share in shares),
        left=sum(share.left for _, share in mine),
        pace=pace,
        hours=sum(share.left * row.seconds for row, share in mine) / 3600,
        last=max((share.judged.last for share in shares if share.judged.last), default=None),
        finish=max((end for end in ends if end), default=None),
    )
