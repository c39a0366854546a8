"""A user's own judging, and the progress of judging in a lab."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q

from arqkit.judgments.completion import ENOUGH, Pace, expected_seconds
from arqlab.core.models import Lab, Membership, Role, Task, Topic, User
from assessment.assignments.selectors.grid import TOPIC_TEXTS, judged_by, topic_counts
from assessment.assignments.selectors.rows import (
    NO_PACE,
    JudgedCounts,
    Share,
    TopicCounts,
    TopicRow,
    together,
)
from assessment.judging.selectors.items import TopicPath
from assessment.judging.selectors.places import judging_address
from assessment.judging.selectors.progress import assigned_topics
from assessment.models import Assignment, Judgment, PoolItem, Round, SetAsideTopic
from assessment.models.kinds import kinds_that
from assessment.timesheets.selectors.figures import (
    NO_WORK,
    SheetPart,
    SheetPlace,
    TimeSheet,
    WorkSum,
    time_sheet_of,
)


class RoundTopic(NamedTuple):
    """A topic that a user judges in a round, its number of items, and how many are judged."""

    round: Round
    topic: Topic
    items: int
    done: int
    address: str

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
    """Return a user's topics in the rounds of a lab or in one round, newest round first.

    Without a role in the lab, only sample tasks are listed. Archived tasks are left out.
    """
    within = {"pool__round": round_id} if round_id else {"pool__round__task__lab": lab}
    roles = Membership.objects.filter(
        lab=OuterRef("pool__round__task__lab"), role__in=Role.judging(), user=user
    )
    own = PoolItem.objects.filter(assessor=user, pool__round__task__archived_at=None, **within)
    own = own.filter(Exists(roles) | Q(pool__round__kind__in=kinds_that(is_for_applicants=True)))
    counted = (
        own.order_by()
        .values("pool__round", "topic")
        .annotate(items=Count("pk"), done=Count("done_at"))
        .values_list("pool__round", "topic", "items", "done")
    )
    rows = list(counted)
    rounds = Round.objects.select_related("pool", "task__lab").in_bulk({row[0] for row in rows})
    topics = Topic.objects.in_bulk({row[1] for row in rows})
    round_topics = [
        _row(rounds[round_pk], topics[topic], items, done) for round_pk, topic, items, done in rows
    ]
    return sorted(round_topics, key=lambda row: (-row.round.pk, row.topic.position))


def _row(round_: Round, topic: Topic, items: int, done: int) -> RoundTopic:
    path = TopicPath(round_.task.lab.slug, round_.task.slug, topic.query_id, round_.key)
    return RoundTopic(round_, topic, items, done, judging_address(path))


@dataclass(frozen=True)
class OwnTopic:
    """A topic with the own work in it; `row` has what is left if it is assigned."""

    topic: Topic
    work: WorkSum
    row: TopicRow | None


@dataclass(frozen=True)
class OwnTask:
    """A round of a task with the own work in it, and what is left of the assigned topics.

    The official round is None; only its topics are assigned.
    """

    task: Task
    round: Round | None
    topics: tuple[OwnTopic, ...]

    @property
    def work(self) -> WorkSum:
        """Return the own work."""
        return sum((topic.work for topic in self.topics), NO_WORK)

    @property
    def assigned(self) -> list[TopicRow]:
        """Return the assigned topics."""
        return [topic.row for topic in self.topics if topic.row]

    @property
    def left(self) -> int:
        """Return the number of items left."""
        return sum(row.left for row in self.assigned)

    @property
    def seconds_left(self) -> float:
        """Return the expected seconds for the items left."""
        return sum(row.seconds_left for row in self.assigned)


@dataclass(frozen=True)
class OwnHours:
    """The own work in a lab."""

    sheet: TimeSheet
    tasks: tuple[OwnTask, ...]

    @property
    def left(self) -> int:
        """Return the number of items left in all assigned topics."""
        return sum(task.left for task in self.tasks)

    @property
    def seconds_left(self) -> float:
        """Return the expected seconds for the items left."""
        return sum(task.seconds_left for task in self.tasks)

    @property
    def days(self) -> list[tuple[date, WorkSum]]:
        """Return the own work on each day with labels."""
        return [(day, work) for day, _, work in self.sheet.days]

    @property
    def data(self) -> dict[str, Any]:
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


def own_hours(lab: Lab, user: User, *, at: datetime) -> OwnHours:
    """Return what a user has done and has left in a lab."""
    sheet = time_sheet_of(lab, person=user).part(SheetPart())
    works = {place: total for place, _, total in sheet.topics}
    work = own_work(user, [lab], at=at).get(lab.pk)
    rows = {SheetPlace(row.topic.task, None, row.topic): row for row in (work.rows if work else ())}
    groups: dict[tuple[Task, Round | None], list[OwnTopic]] = {}
    for place in sorted({**works, **rows}, key=lambda place: place.order):
        topic = place.topic
        if topic:
            own_topic = OwnTopic(topic, works.get(place, NO_WORK), rows.get(place))
            groups.setdefault((place.task, place.round), []).append(own_topic)
    return OwnHours(sheet, tuple(OwnTask(*key, tuple(group)) for key, group in groups.items()))


@dataclass(frozen=True)
class DueWork:
    """What is left for a user in a task with a judging deadline."""

    task: Task
    topics: int
    left: int
    seconds_left: float
    pace: Pace

    @property
    def is_own_pace(self) -> bool:
        """Return whether the user has given enough labels to know their pace."""
        return self.pace.labels >= ENOUGH


@dataclass(frozen=True)
class OwnWork:
    """The topics a user judges in a lab, each with the user's share."""

    person: User
    rows: tuple[TopicRow, ...]

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

    @property
    def due(self) -> list[DueWork]:
        """Return what is left in the tasks that have a judging deadline, the earliest first."""
        rows: dict[Task, list[TopicRow]] = {}
        for row in self.rows:
            rows.setdefault(row.topic.task, []).append(row)
        due = [self._due(task, group) for task, group in rows.items() if task.judging_deadline]
        return sorted(
            (due_work for due_work in due if due_work.left),
            key=lambda due_work: str(due_work.task.judging_deadline),
        )

    def _due(self, task: Task, rows: list[TopicRow]) -> DueWork:
        return DueWork(
            task,
            topics=sum(row.left > 0 for row in rows),
            left=sum(row.left for row in rows),
            seconds_left=sum(row.seconds_left for row in rows),
            pace=together(self._judged(row).pace for row in rows),
        )

    @property
    def next_row(self) -> TopicRow | None:
        """Return the topic to continue with."""
        return self.next_of(self.rows)

    def next_of(self, rows: Iterable[TopicRow]) -> TopicRow | None:
        """Return the topic to continue with: judged last, else the first with items left."""
        waiting = [row for row in rows if row.left]
        started = {last: row for row in waiting if (last := self._judged(row).last)}
        return started[max(started)] if started else next(iter(waiting), None)

    def _judged(self, row: TopicRow) -> JudgedCounts:
        return row.shares[self.person.pk].judged


@dataclass(frozen=True)
class TaskJudging:
    """Progress of a task: all items, completed items, and unassigned topics with items left."""

    total: int
    done: int
    unassigned: int


def own_work(
    user: User, labs: Collection[Lab], *, at: datetime, texts: Collection[str] = ()
) -> dict[int, OwnWork]:
    """Return a user's work by lab, in three queries; labs without their topics are omitted.

    Of the long fields of topics, only those in `texts` are read.
    """
    mine = Assignment.objects.filter(
        assessor=user, ended_at=None, topic__in=assigned_topics(user), topic__task__lab__in=labs
    )
    read = mine.select_related("topic__task__lab").defer(
        *(f"topic__{text}" for text in TOPIC_TEXTS if text not in texts)
    )
    assignments = list(read.order_by("topic__task__position", "topic__task", "topic__position"))
    topics = [assignment.topic_id for assignment in assignments]
    counts = topic_counts(PoolItem.official.filter(topic__in=topics)) if topics else {}
    own = Judgment.official.filter(assessor=user, instance__item__topic__task__lab__in=labs)
    judged = judged_by(own, at=at) if topics else {}
    paces: dict[int, Pace] = {}
    rows: dict[int, list[TopicRow]] = {}
    for assignment in assignments:
        known = judged.get((assignment.topic_id, user.pk), JudgedCounts())
        row = TopicRow(
            assignment.topic,
            *counts.get(assignment.topic_id, TopicCounts()),
            shares={user.pk: Share(user, known, assignment)},
        )
        paces[assignment.topic.task_id] = paces.get(assignment.topic.task_id, NO_PACE).plus(
            known.pace
        )
        rows.setdefault(assignment.topic.task.lab_id, []).append(row)
    for row in (row for group in rows.values() for row in group):
        row.seconds = expected_seconds(
            [row.pace, paces[row.topic.task_id]], usual=row.topic.task.protocol.seconds
        )
    return {lab: OwnWork(user, tuple(group)) for lab, group in rows.items()}


def task_judging(labs: Collection[Lab]) -> dict[int, TaskJudging]:
    """Return the progress of each task, in two queries; tasks without a pool are omitted."""
    items = PoolItem.official.filter(pool__task__lab__in=labs).order_by().values("pool__task")
    counts = items.annotate(total=Count("pk"), done=Count("done_at")).values_list(
        "pool__task", "total", "done"
    )
    waiting = PoolItem.official.filter(topic=OuterRef("pk"), done_at=None, pool__closed_at=None)
    roles = Membership.objects.filter(lab=OuterRef(OuterRef("task__lab")), role__in=Role.judging())
    judges = roles.filter(user=OuterRef("assessor"))
    had = Assignment.objects.filter(Exists(judges), topic=OuterRef("pk"), ended_at=None)
    aside = SetAsideTopic.objects.filter(topic=OuterRef("pk"), ended_at=None)
    free = (
        Topic.objects.filter(Exists(waiting), ~Exists(had), ~Exists(aside), task__lab__in=labs)
        .order_by()
        .values("task")
    )
    unassigned = dict(free.annotate(count=Count("pk")).values_list("task", "count"))
    return {task: TaskJudging(total, done, unassigned.get(task, 0)) for task, total, done in counts}
