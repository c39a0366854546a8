"""A user's own judging, and the progress of judging in a lab."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q

from arqkit.judgments.completion import ENOUGH, Pace, expected_seconds
from arqlab.core.models import Lab, Membership, Role, Task, Topic, User
from assessment.assignments.selectors.grid import (
    NO_PACE,
    TOPIC_TEXTS,
    Share,
    TopicCounts,
    TopicRow,
    TopicRows,
    together,
    topic_counts,
)
from assessment.hours.selectors import (
    NO_WORK,
    SheetPart,
    SheetPlace,
    TimeSheet,
    WorkSum,
    time_sheet_of,
)
from assessment.judging.selectors.items import TopicPath
from assessment.judging.selectors.places import judging_address
from assessment.judging.selectors.progress import assigned_topics
from assessment.models import Assignment, PoolItem, Round
from assessment.models.kinds import kinds_that
from assessment.qrels.selectors.counts import Judged, TopicTally, topic_tallies


class RoundTopic(NamedTuple):
    """A topic that a user judges in a round, its number of items, and how many are judged."""

    round: Round
    topic: Topic
    items: int
    done: int

    @property
    def address(self) -> str:
        """Return the address of the judging page."""
        task = self.round.task
        path = TopicPath(task.lab.slug, task.slug, self.topic.query_id, self.round.key)
        return judging_address(path)

    @property
    def state(self) -> str:
        """Return the state of judging: `done`, `closed`, `in-progress` or `not-started`."""
        if self.done == self.items:
            return "done"
        if self.round.pool.closed_at:
            return "closed"
        return "in-progress" if self.done else "not-started"

    @property
    def is_earlier(self) -> bool:
        """Return whether nothing is left to judge or to wait for."""
        is_judged = self.done == self.items and not self.round.rules.shows_page_to_judges
        return is_judged or self.round.pool.closed_at is not None


def own_round_topics(
    user: User, *, lab: Lab | None = None, round_id: int | None = None
) -> list[RoundTopic]:
    """Return a user's topics in rounds, newest first; without a role, those of sample tasks."""
    within = {"pool__round": round_id} if round_id else {"pool__round__task__lab": lab}
    roles = Membership.objects.filter(
        lab=OuterRef("pool__round__task__lab"), role__in=Role.judging(), user=user
    )
    items = PoolItem.objects.filter(assessor=user, pool__round__task__archived_at=None, **within)
    items = items.filter(
        Exists(roles) | Q(pool__round__kind__in=kinds_that(is_for_applicants=True))
    )
    pairs = items.order_by().values_list("pool__round", "topic")
    rows = list(pairs.annotate(items=Count("pk"), done=Count("done_at")))
    rounds = Round.objects.select_related("pool", "task__lab").in_bulk({row[0] for row in rows})
    topics = Topic.objects.in_bulk({row[1] for row in rows})
    round_topics = [
        RoundTopic(rounds[round_pk], topics[topic], *counts) for round_pk, topic, *counts in rows
    ]
    return sorted(round_topics, key=lambda row: (-row.round.pk, row.topic.position))


@dataclass(frozen=True)
class OwnTopic:
    """A topic with the own work in it; `row` has what is left if it is assigned."""

    topic: Topic
    work: WorkSum
    row: TopicRow | None


@dataclass(frozen=True)
class OwnTask(TopicRows):
    """A round of a task with the own work in it; only those of the official one are assigned."""

    task: Task
    round: Round | None
    topics: list[OwnTopic]

    @property
    def work(self) -> WorkSum:
        """Return the own work."""
        return sum((topic.work for topic in self.topics), NO_WORK)


class OwnDay(NamedTuple):
    """The own work of a day."""

    day: date
    work: WorkSum


@dataclass(frozen=True)
class OwnHours(TopicRows):
    """The own work in a lab, and all assigned topics."""

    sheet: TimeSheet
    tasks: list[OwnTask]

    @property
    def days(self) -> list[OwnDay]:
        """Return the own work on each day with labels."""
        return [OwnDay(day, work) for day, _, work in self.sheet.days]

    @property
    def data(self) -> dict[str, object]:
        """Return the data of the chart, as `js/charts.js` reads it."""
        return {
            "days": [
                {
                    "day": day.isoformat(),
                    "items": work.items,
                    "seconds": None if work.pace.each is None else round(work.pace.each, 1),
                }
                for day, work in self.days
            ]
        }


def own_hours(lab: Lab, user: User) -> OwnHours:
    """Return what a user has done and has left in a lab."""
    sheet = time_sheet_of(lab, person=user).part(SheetPart())
    works = {place: total for place, _, total in sheet.topics}
    work = own_work(user, [lab]).get(lab.pk, TopicRows([]))
    rows = {SheetPlace(row.topic.task, None, row.topic): row for row in work.rows}
    groups: dict[tuple[Task, Round | None], list[OwnTopic]] = {}
    for place in sorted({**works, **rows}, key=lambda place: place.order):
        if place.topic:
            own_topic = OwnTopic(place.topic, works.get(place, NO_WORK), rows.get(place))
            groups.setdefault((place.task, place.round), []).append(own_topic)
    tasks = [
        OwnTask([topic.row for topic in topics if topic.row], *key, topics)
        for key, topics in groups.items()
    ]
    return OwnHours(work.rows, sheet, tasks)


@dataclass(frozen=True)
class DueWork(TopicRows):
    """The topics of a user in a task with a judging deadline."""

    task: Task
    pace: Pace

    @property
    def topics(self) -> int:
        """Return the number of topics with items left."""
        return sum(row.left > 0 for row in self.rows)

    @property
    def is_own_pace(self) -> bool:
        """Return whether the user has given enough labels to know their pace."""
        return self.pace.labels >= ENOUGH


@dataclass(frozen=True)
class OwnWork(TopicRows):
    """The topics a user judges in a lab, each with the user's share."""

    person: User

    @property
    def due(self) -> list[DueWork]:
        """Return what is left in the tasks that have a judging deadline, the earliest first."""
        rows: dict[Task, list[TopicRow]] = {}
        for row in self.rows:
            if row.topic.task.judging_deadline:
                rows.setdefault(row.topic.task, []).append(row)
        due = [
            DueWork(group, task, together(self._judged(row).pace for row in group))
            for task, group in rows.items()
            if any(row.left for row in group)
        ]
        return sorted(due, key=lambda due_work: str(due_work.task.judging_deadline))

    @property
    def next_row(self) -> TopicRow | None:
        """Return the topic to continue with."""
        return self.next_of(self.rows)

    def next_of(self, rows: Iterable[TopicRow]) -> TopicRow | None:
        """Return the topic to continue with: judged last, else the first with items left."""
        waiting = [row for row in rows if row.left]
        started = {last: row for row in waiting if (last := self._judged(row).last)}
        return started[max(started)] if started else next(iter(waiting), None)

    def _judged(self, row: TopicRow) -> Judged:
        return row.shares[self.person.pk].judged


@dataclass(frozen=True)
class TaskJudging:
    """Progress of a task: all items, completed items, and unassigned topics with items left."""

    total: int
    done: int
    unassigned: int


def own_work(
    user: User, labs: Collection[Lab], *, texts: Collection[str] = ()
) -> dict[int, OwnWork]:
    """Return a user's work by lab, with only these `texts` of the topics."""
    mine = Assignment.objects.filter(
        assessor=user, ended_at=None, topic__in=assigned_topics(user), topic__task__lab__in=labs
    )
    read = mine.select_related("topic__task__lab").defer(
        *(f"topic__{text}" for text in TOPIC_TEXTS if text not in texts)
    )
    assignments = list(read.order_by("topic__task__position", "topic__task", "topic__position"))
    tasks = {assignment.topic.task for assignment in assignments}
    tallies = topic_tallies(*tasks)
    counts = topic_counts(tallies, tasks)
    paces: dict[Task, Pace] = {}
    rows: dict[int, list[TopicRow]] = {}
    for assignment in assignments:
        topic, task = assignment.topic, assignment.topic.task
        work = tallies.get(topic.pk, TopicTally()).people.get(user.pk, Judged())
        shares = {user.pk: Share(user, work, assignment)}
        row = TopicRow(topic, *counts.get(topic.pk, TopicCounts()), shares=shares)
        paces[task] = paces.get(task, NO_PACE).plus(work.pace)
        rows.setdefault(task.lab_id, []).append(row)
    for row in chain.from_iterable(rows.values()):
        task = row.topic.task
        row.seconds = expected_seconds([row.pace, paces[task]], usual=task.protocol.seconds)
    return {lab: OwnWork(group, user) for lab, group in rows.items()}


def task_judging(labs: Collection[Lab]) -> dict[int, TaskJudging]:
    """Return the progress of each task; tasks without a pool are omitted."""
    tasks = Task.objects.filter(lab__in=labs).select_related("lab")
    tallies = topic_tallies(*tasks)
    counts = topic_counts(tallies, tasks)
    roles = Membership.objects.filter(lab=OuterRef("topic__task__lab"), role__in=Role.judging())
    had = Assignment.objects.filter(
        Exists(roles.filter(user=OuterRef("assessor"))), topic__task__lab__in=labs, ended_at=None
    )
    assigned = set(had.values_list("topic", flat=True))
    topics = Topic.objects.filter(task__lab__in=labs).order_by().values_list("task", "pk")
    progress: dict[int, TaskJudging] = {}
    for task, topic in topics:
        if count := counts.get(topic):
            counted = progress.get(task, TaskJudging(0, 0, 0))
            is_free = bool(count.left) and topic not in assigned
            progress[task] = TaskJudging(
                counted.total + count.total, counted.done + count.done, counted.unassigned + is_free
            )
    return progress
