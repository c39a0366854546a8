"""The progress of a task by topic and assessor, and its estimated completion."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from math import ceil
from typing import Any, NamedTuple

from django.db.models import Min, QuerySet

from arqkit.judgments.completion import RECENT, Pace, estimated_completions, expected_seconds
from arqlab.core.models import Lab, Membership, Role, Task, Topic, User
from assessment.assignments.selectors.left_out import left_out_topics
from assessment.models import Assignment, Pool
from assessment.qrels.selectors.counts import Judged, Size, TopicTally, added, topic_tallies

NO_PACE = Pace()

TOPIC_TEXTS = ("title", "body", "title_html", "body_html", "formula_html")
"""Long fields of topics that lists do not load."""

GRID_FIELDS = ("query_id", "position", "task_id", "title_html", "formula_html", "tags", "info")


class TopicCounts(NamedTuple):
    """The items of a topic: all, completed, and those left to judge in open pools.

    `labels` and `labels_left` count the labels that all items and those left need. A topic that is
    left out has no items left to judge, although those of a topic set aside stay open.
    """

    total: int = 0
    done: int = 0
    left: int = 0
    labels: int = 0
    labels_left: int = 0
    is_left_out: bool = False


@dataclass
class Share:
    """A person's part of a topic. `assignment` is None if they judged in it earlier."""

    person: User
    judged: Judged
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
    is_left_out: bool
    shares: dict[int, Share] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def is_set_aside(self) -> bool:
        """Return whether an organizer set the topic aside; only one with items can be."""
        return self.is_left_out and self.total > 0

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
            return "left-out" if self.is_left_out else "no-items"
        if self.left and not self.judging_shares:
            return "unassigned"
        if self.left:
            is_started = self.done or any(share.judged.items for share in self.shares.values())
            return "in-progress" if is_started else "not-started"
        if self.done < self.total:
            return "set-aside" if self.is_set_aside else "closed"
        assignments = (share.assignment for share in self.shares.values())
        return (
            "in-review"
            if any(assignment and assignment.reviewed_since for assignment in assignments)
            else "done"
        )

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
    """All topics of a task, all users who have judged them or may judge them."""

    people: list[PersonRow]
    tallies: Mapping[int, TopicTally]

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


def judging_staff(lab: Lab) -> QuerySet[User]:
    """Return the users who may judge in a lab, assessors first, with their first role as `role`."""
    roles = Membership.objects.filter(lab=lab, role__in=Role.judging())
    users = User.objects.filter(memberships__in=roles).annotate(role=Min("memberships__role"))
    return users.order_by("role", "first_name", "last_name", "username")


def assesses(person: Any) -> bool:
    """Return whether a user of `judging_staff` judges by default."""
    return Role(person.role).rights.assesses


def assignment_grid(
    task: Task, *, at: datetime, assignments: Iterable[Assignment] | None = None
) -> AssignmentGrid:
    """Return the topics and assessors of a task with their progress and estimated completion.

    For a preview, `assignments` replace the current ones. Takes a query more if users who may no
    longer judge have labels.
    """
    tallies = topic_tallies(task)
    counts = topic_counts(tallies, [task])
    judged = {
        (topic, person): work_of_person
        for topic, tally in tallies.items()
        for person, work_of_person in tally.people.items()
    }
    if assignments is None:
        stored = Assignment.objects.filter(topic__task=task, ended_at=None)
        assignments = stored.select_related("assessor")
    staff = {person.pk: person for person in judging_staff(task.lab)}
    rows = {
        topic.pk: TopicRow(topic, *counts.get(topic.pk, TopicCounts()))
        for topic in task.topics.only(*GRID_FIELDS, "info_edits").order_by("position")
    }
    people = dict(staff)
    for assignment in assignments:
        people.setdefault(assignment.assessor_id, assignment.assessor)
        work = judged.pop((assignment.topic_id, assignment.assessor_id), Judged())
        rows[assignment.topic_id].shares[assignment.assessor_id] = Share(
            assignment.assessor, work, assignment, assignment.assessor_id in staff
        )
    people |= User.objects.in_bulk({person_id for _, person_id in judged} - people.keys())
    for (topic_id, person_id), work in judged.items():
        rows[topic_id].shares[person_id] = Share(people[person_id], work)
    paces = _estimate(rows.values(), people)
    return AssignmentGrid(
        list(rows.values()),
        [
            _person_row(task, rows.values(), person, paces[pk], may_judge=pk in staff, at=at)
            for pk, person in people.items()
        ],
        tallies,
    )


def topic_counts(
    tallies: Mapping[int, TopicTally], tasks: Collection[Task] | QuerySet[Task]
) -> dict[int, TopicCounts]:
    """Return the counts of items and of their labels by topic of the tasks, in two queries.

    Topics that may still get items are missing.
    """
    left_out = set(left_out_topics(tasks).values_list("pk", flat=True))
    open_pools = set(Pool.official.filter(closed_at=None).values_list("pk", flat=True))
    counts = {topic: TopicCounts(is_left_out=True) for topic in left_out}
    for topic, tally in tallies.items():
        size, is_left_out = added(tally.sizes.values()), topic in left_out
        waiting = [size for (pool, _), size in tally.sizes.items() if pool in open_pools]
        waiting_size = Size() if is_left_out else added(waiting)
        counts[topic] = TopicCounts(
            size.items,
            size.done,
            waiting_size.left,
            size.labels,
            waiting_size.labels_left,
            is_left_out,
        )
    return counts


def _estimate(rows: Collection[TopicRow], people: Iterable[int]) -> dict[int, Pace]:
    """Fill in the seconds per label and the shares of each topic; return the pace by person."""
    by_person = {
        pk: together(row.shares[pk].judged.pace for row in rows if pk in row.shares)
        for pk in people
    }
    everybody = together(by_person.values())
    for row in rows:
        judges = [share.person.pk for share in row.judging_shares]
        theirs = together(by_person[pk] for pk in judges)
        row.seconds = expected_seconds(
            [row.pace, theirs, everybody], usual=row.topic.task.protocol.seconds
        )
        for pk in judges:
            row.shares[pk].left = ceil(row.left / len(judges))
            row.shares[pk].labels_left = ceil(row.labels_left / len(judges))
    return by_person


def _person_row(
    task: Task, rows: Iterable[TopicRow], person: User, pace: Pace, *, may_judge: bool, at: datetime
) -> PersonRow:
    """Return the row of a person, who judges started topics first, in the order of the task."""
    pairs = [(row, row.shares[person.pk]) for row in rows if person.pk in row.shares]
    pairs.sort(key=lambda pair: (not pair[1].judged.items, pair[0].topic.position))
    shares = [share for _, share in pairs]
    mine = [(row, share) for row, share in pairs if share.assignment]
    first = min((share.judged.first for share in shares if share.judged.first), default=None)
    lately = sum(share.judged.since(at - RECENT) for share in shares)
    ends = estimated_completions(
        [share.labels_left for _, share in mine], recent=lately, since=first, at=at
    )
    for (_, share), end in zip(mine, ends, strict=True):
        share.finish = end
    states = [row.state_of(share) for row, share in mine]
    return PersonRow(
        person=person,
        may_judge=may_judge,
        is_assessor=may_judge and assesses(person),
        states={state: states.count(state) for state in dict.fromkeys(states)},
        judged=sum(share.judged.items for share in shares),
        left=sum(share.left for _, share in mine),
        pace=pace,
        hours=sum(share.labels_left * row.seconds for row, share in mine) / 3600,
        last=max((share.judged.last for share in shares if share.judged.last), default=None),
        finish=max((end for end in ends if end), default=None),
        deadline=task.judging_deadline,
    )
