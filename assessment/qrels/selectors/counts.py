"""What is counted of a task's items and labels by topic, kept until the labels of a topic change.

A topic is counted again when it has a judgment that is newer than those counted, or one that began
or ceased to count since. The database shows both, so nobody who stores labels keeps counts.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Count, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import TruncDate, TruncHour
from django.db.models.sql.compiler import SQLCompiler

from arqkit.judgments.completion import Pace
from arqlab.core.caches import computed_values, key_of, require_time
from arqlab.core.models import Task
from assessment.models import Judgment, Pool, PoolItem

COUNTING, LOOKING = 5e-6, 3e-6
"""Seconds to count an item with its labels, and to look up the topic of a judgment."""
UNSETTLED = 50_000
"""The last judgments looked at again if others were being stored during the first count."""


class Size(NamedTuple):
    """Items and the labels that they need: all, and those of items that are not completed."""

    items: int = 0
    labels: int = 0
    left: int = 0
    labels_left: int = 0

    @property
    def done(self) -> int:
        """Return the number of completed items."""
        return self.items - self.left


@dataclass
class Judged:
    """The current labels of a person in a topic: items, labels with a time, their milliseconds.

    Imported labels count, but not in `first` and `hours`, which are the labels by hour.
    """

    items: int = 0
    timed: int = 0
    active_ms: int = 0
    first: datetime | None = None
    last: datetime | None = None
    hours: dict[int, int] = field(default_factory=dict)

    @property
    def pace(self) -> Pace:
        """Return the pace of the labels with a time."""
        return Pace(self.timed, self.active_ms / 1000)

    def since(self, moment: datetime) -> int:
        """Return the number of labels from the hour of a moment on."""
        first = hour_of(moment)
        return sum(count for hour, count in self.hours.items() if hour >= first)


@dataclass
class TopicTally:
    """The counts of a topic: sizes by pool and kind of items, current labels by pool and value.

    `relevant` are the items with a relevant label by kind, `people` those who judged, and `days`
    the items judged here by day, without imported labels.
    """

    sizes: dict[tuple[int, str], Size] = field(default_factory=dict)
    labels: dict[tuple[int, int], int] = field(default_factory=dict)
    relevant: dict[str, int] = field(default_factory=dict)
    people: dict[int, Judged] = field(default_factory=dict)
    days: dict[date, int] = field(default_factory=dict)


def hour_of(at: datetime) -> int:
    """Return the hours since 1970, which are read more quickly than times."""
    return int(at.timestamp()) // 3600


def added(sizes: Iterable[Size]) -> Size:
    """Return sizes added up."""
    return Size(*(sum(values) for values in zip(Size(), *sizes, strict=True)))


class Marks(NamedTuple):
    """The id and key of the newest judgment; the number and the sum of the ids of superseded ones.

    On PostgreSQL, `oldest` is the oldest transaction that goes on, and `following` the next one:
    while others go on, a judgment with a smaller id than the newest may not be stored yet.
    """

    newest: int
    key: UUID | None
    retired: int
    ids: int
    oldest: int = 0
    following: int = 0


def marks_now() -> Marks:
    """Return what shows whether judgments have changed, in two or three quick queries."""
    newest, key = Judgment.objects.order_by("-pk").values_list("pk", "key").first() or (0, None)
    sums = _retired().aggregate(count=Count("pk"), ids=Sum("pk", default=0))
    marks = Marks(newest, key, sums["count"], int(sums["ids"]))
    if connection.vendor != "postgresql":
        return marks
    with connection.cursor() as cursor:
        cursor.execute("SELECT CAST(pg_current_snapshot() AS text)")  # xmin:xmax:those between
        oldest, following, _ = cursor.fetchone()[0].split(":")
    return marks._replace(oldest=int(oldest), following=int(following))


def _retired() -> QuerySet[Judgment]:
    return Judgment.objects.filter(is_current=False).order_by()


@dataclass(frozen=True)
class _Kept:
    """Tallies, with what shows later which of them changed.

    All judgments up to the id `settled` were stored when they were counted.
    """

    marks: Marks
    settled: int
    retired: frozenset[int]
    tallies: dict[int, TopicTally]
    version: str

    def settled_by(self, marks: Marks) -> int:
        """Return the id up to which all judgments are stored now, because those in flight ended."""
        return self.marks.newest if self.marks.following <= marks.oldest else self.settled


def topic_tallies(*tasks: Task) -> dict[int, TopicTally]:
    """Return the counts of the official judging of each topic that has items, by its key."""
    return {topic: one for counts in _kept(tasks) for topic, one in counts.tallies.items()}


def judging_version(task: Task) -> tuple[str, int]:
    """Return what differs after each change of official labels, and the number of current ones."""
    for counts in _kept([task]):
        return counts.version, sum(sum(one.labels.values()) for one in counts.tallies.values())
    return "", 0


def _kept(tasks: Iterable[Task]) -> list[_Kept]:
    """Return the counts of each task with a pool, and count what has changed."""
    frozen: dict[int, list[Pool]] = {}
    for pool in Pool.official.filter(task__in=tasks).order_by("number").defer("settings", "runs"):
        frozen.setdefault(pool.task_id, []).append(pool)
    marks = marks_now() if frozen else Marks(0, None, 0, 0)
    return [_kept_of(task, frozen[task.pk], marks) for task in tasks if task.pk in frozen]


def _kept_of(task: Task, pools: list[Pool], marks: Marks) -> _Kept:
    scale = pools[0].label_scale
    lowest = task.protocol.relevant_in(scale)
    relevant = [label.value for label in scale.judgments if label.value >= lowest]
    key = key_of("tallies", task.pk, [(pool.pk, pool.frozen_at) for pool in pools], relevant)
    entry: _Kept | None = computed_values.get(key)
    if entry and entry.marks[:4] == marks[:4] and entry.settled == marks.newest:
        return entry
    if entry and entry.marks.key and not Judgment.objects.filter(key=entry.marks.key).exists():
        entry = None  # another database was restored since
    retired = frozenset(_retired().values_list("pk", flat=True))
    changes = marks.newest - (entry.settled if entry else 0)
    if entry:
        items = sum(size.items for one in entry.tallies.values() for size in one.sizes.values())
    else:
        items = PoolItem.official.filter(pool__task=task).count()
    version = f"{key} {marks}"
    if entry is None or changes * LOOKING > items * COUNTING:
        require_time(key, items * COUNTING)
        tallies, settled = _counted(relevant, pool__task=task), marks.newest - UNSETTLED
    else:
        require_time(key, changes * LOOKING)
        which = Q(pk__gt=entry.settled) | Q(pk__in=retired ^ entry.retired)
        topics = Judgment.objects.filter(which).order_by().values_list("instance__item__topic")
        changed = {topic for (topic,) in topics.distinct()} & entry.tallies.keys()
        fresh = _counted(relevant, pool__task=task, topic__in=changed) if changed else {}
        tallies, settled = entry.tallies | fresh, entry.settled_by(marks)
        if not changed or (tallies == entry.tallies and marks[:4] == entry.marks[:4]):
            version = entry.version
    in_flight = marks.oldest < marks.following
    entry = _Kept(marks, settled if in_flight else marks.newest, retired, tallies, version)
    computed_values.set(key, entry, None)
    return entry


def _counted(relevant: Collection[int], **where: object) -> dict[int, TopicTally]:
    """Count the topics with official items where this holds; `relevant` are values of labels."""
    tallies = defaultdict[int, TopicTally](TopicTally)
    is_waiting = Q(done_at=None)
    items = PoolItem.official.filter(**where).order_by().values_list("topic", "pool", "kind")
    sizes = items.annotate(
        Count("pk", distinct=True),
        Count("instances"),
        left=Count("pk", distinct=True, filter=is_waiting),
        labels_left=Count("instances", filter=is_waiting),
    )
    for topic, pool, kind, *size in sizes:
        tallies[topic].sizes[pool, kind] = Size(*size)
    item = "instance__item"
    current = Judgment.official.filter(
        **{f"{item}__{name}": value for name, value in where.items()}, is_current=True
    ).order_by()
    here, distinct = Q(is_imported=False), Count(item, distinct=True)
    labels = current.values_list(f"{item}__topic", f"{item}__pool", "label")
    for topic, pool, label, count in labels.annotate(Count("pk")):
        tallies[topic].labels[pool, label] = count
    relevant_labels = current.filter(label__in=relevant).values_list(
        f"{item}__topic", f"{item}__kind"
    )
    for topic, kind, count in relevant_labels.annotate(distinct):
        tallies[topic].relevant[kind] = count
    judged = current.filter(assessor__isnull=False).values_list(f"{item}__topic", "assessor")
    for topic, person, *sums in judged.annotate(
        distinct,
        Count("active_ms"),
        Sum("active_ms", default=0),
        first=Min("judged_at", filter=here),
        last=Max("judged_at"),
    ):
        tallies[topic].people[person] = Judged(*sums)
    for topic, person, hour, count in judged.filter(here).annotate(
        hour=UtcHour("judged_at"), count=Count("pk")
    ):
        tallies[topic].people[person].hours[hour_of(hour)] = count
    days = current.filter(here).values_list(f"{item}__topic", LocalDay("judged_at"))
    for topic, day, count in days.annotate(distinct):
        tallies[topic].days[day] = count
    return dict(tallies)


class LocalDay(TruncDate):
    """The day of a time in a time zone; on SQLite, UTC needs no Python function for each row."""

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **options: object
    ) -> tuple[str, tuple[str | int, ...]]:
        """Return the SQL for SQLite."""
        if self.get_tzname() != "UTC":
            return self.as_sql(compiler, connection, **options)
        sql, parameters = compiler.compile(self.lhs)
        return f"date({sql})", parameters


class UtcHour(TruncHour):
    """The hour of a time in UTC; on SQLite, without a Python function for each row."""

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **options: object
    ) -> tuple[str, tuple[str | int, ...]]:
        """Return the SQL for SQLite."""
        sql, parameters = compiler.compile(self.lhs)
        return f"substr({sql}, 1, 13) || ':00:00'", parameters
