"""A user's own judging, and the progress of judging in a lab."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef

from arqkit.judgments.completion import ENOUGH, Pace, expected_seconds
from arqlab.core.models import Lab, Membership, Task, Topic, User
from assessment.assignments.selectors.grid import (
    JUDGING_ROLES,
    TOPIC_TEXTS,
    judged_by,
    topic_counts,
)
from assessment.assignments.selectors.rows import (
    NO_PACE,
    JudgedCounts,
    Share,
    TopicCounts,
    TopicRow,
    together,
)
from assessment.judging.selectors.progress import assigned_topics
from assessment.models import Assignment, Judgment, PoolItem, SetAsideTopic


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
            (one for one in due if one.left), key=lambda one: str(one.task.judging_deadline)
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
    user: User, labs: Collection[Lab], *, at: datetime, shown: Collection[str] = ()
) -> dict[int, OwnWork]:
    """Return a user's work by lab, in three queries; labs without their topics are omitted.

    Of the long fields of topics, only those in `shown` are read.
    """
    mine = Assignment.objects.filter(
        assessor=user, ended_at=None, topic__in=assigned_topics(user), topic__task__lab__in=labs
    )
    read = mine.select_related("topic__task__lab").defer(
        *(f"topic__{text}" for text in TOPIC_TEXTS if text not in shown)
    )
    found = list(read.order_by("topic__task__position", "topic__task", "topic__position"))
    topics = [one.topic_id for one in found]
    counts = topic_counts(PoolItem.official.filter(topic__in=topics)) if topics else {}
    own = Judgment.official.filter(assessor=user, instance__item__topic__task__lab__in=labs)
    judged = judged_by(own, at=at) if topics else {}
    paces: dict[int, Pace] = {}
    rows: dict[int, list[TopicRow]] = {}
    for one in found:
        known = judged.get((one.topic_id, user.pk), JudgedCounts())
        row = TopicRow(
            one.topic,
            *counts.get(one.topic_id, TopicCounts()),
            shares={user.pk: Share(user, known, one)},
        )
        paces[one.topic.task_id] = paces.get(one.topic.task_id, NO_PACE).plus(known.pace)
        rows.setdefault(one.topic.task.lab_id, []).append(row)
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
    roles = Membership.objects.filter(lab=OuterRef(OuterRef("task__lab")), role__in=JUDGING_ROLES)
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
