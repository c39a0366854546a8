"""The working time of people, and its cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from operator import add
from typing import Any, Generic, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from arqkit.formats.tables import csv_lines
from arqkit.judgments.completion import Pace, expected_seconds
from arqlab.core.forms.moments import ANYWHERE
from arqlab.core.models import Lab, Task, Topic, User
from assessment.models import Judgment, PayRule, Pool, Round
from assessment.models.kinds import kinds_that
from assessment.qrels.selectors.counts import LocalDay

NOTICEABLE = 1_000  # ms

MS_PER_HOUR = 3_600_000
OFFICIAL = "official"
"""The name of the official round in time sheets."""
USUAL_KINDS = (OFFICIAL, *kinds_that(is_for_applicants=False))
"""The kinds of rounds on a time sheet unless others are chosen: applicants are not paid yet."""

Key = TypeVar("Key", bound=Hashable)


def time_sheet_of(lab: Lab, *, person: User | None = None) -> TimeSheet:
    """Return the time sheet of a lab, or of one person in it, in six queries."""
    rule = PayRule.of(lab)
    judgments = Judgment.objects.filter(instance__item__pool__task__lab=lab)
    if person:
        judgments = judgments.filter(assessor=person)
    works: dict[tuple[int | None, Task, Round | None, int, date], WorkSum] = defaultdict(WorkSum)
    pools = Pool.objects.filter(task__lab=lab).select_related("task__lab", "round")
    places = {pool.pk: (pool.task, pool.round) for pool in pools.only("task", "round")}
    grouped = _grouped(judgments, ZoneInfo(rule.time_zone))
    for by, pool, topic, day, items, labels, timed, *times in grouped:
        works[by, *places[pool], topic, day] += WorkSum(items, labels, labels - timed, *times)
    people = User.objects.in_bulk({by for by, *_ in works if by})
    topics = Topic.objects.only("query_id", "position").in_bulk({key[3] for key in works})
    rows = [
        SheetRow(people[by], task, round_, topics[topic], day, work)
        for (by, task, round_, topic, day), work in works.items()
        if by
    ]
    rows.sort(
        key=lambda row: (
            row.person.name.casefold(),
            row.person.pk,
            *SheetPlace(row.task, row.round, row.topic).order,
            row.day,
        )
    )
    return TimeSheet(rule, rows, sum(work.labels for (by, *_), work in works.items() if not by))


def _grouped(judgments: QuerySet[Judgment], zone: ZoneInfo) -> QuerySet[Judgment, Any]:
    """Return person, pool, topic and day with items, labels, timed labels, and times."""
    repeated = Judgment.objects.filter(
        supersedes=OuterRef("pk"), is_imported=True, label=OuterRef("label")
    )
    decided = Q(instance__item__pool__round__kind__in=kinds_that(decides=True), active_ms=None)
    is_capped = Q(reported_ms__gte=F("active_ms") + NOTICEABLE)
    return (
        judgments.filter(~Exists(repeated))
        .exclude(decided)
        .order_by()
        .annotate(day=LocalDay(Coalesce("given_at", "judged_at"), tzinfo=zone))
        .values_list("assessor", "instance__item__pool", "instance__item__topic", "day")
        .annotate(
            items=Count("instance__item", distinct=True),
            labels=Count("pk"),
            timed=Count("active_ms"),
            time=Sum("active_ms", default=0),
            capped=Count("pk", filter=is_capped),
            unseen=Sum(F("reported_ms") - F("active_ms"), filter=is_capped, default=0),
        )
    )


@dataclass(frozen=True)
class WorkSum:
    """The items and labels of some work, and its time in milliseconds.

    `untimed` labels have no time. The page reported more than the server saw for `capped` labels,
    together `unseen_ms`, which is not part of the time.
    """

    items: int = 0
    labels: int = 0
    untimed: int = 0
    active_ms: int = 0
    capped: int = 0
    unseen_ms: int = 0
    estimated_ms: int = 0

    def __add__(self, other: WorkSum) -> WorkSum:
        """Return the sum of two parts of the work."""
        return WorkSum(*map(add, vars(self).values(), vars(other).values()))

    @property
    def active_hours(self) -> float:
        """Return the measured hours."""
        return self.active_ms / MS_PER_HOUR

    @property
    def unseen_hours(self) -> float:
        """Return the hours that the page reported and the server did not see."""
        return self.unseen_ms / MS_PER_HOUR

    @property
    def estimated_hours(self) -> float:
        """Return the hours estimated for labels without time."""
        return self.estimated_ms / MS_PER_HOUR

    @property
    def hours(self) -> float:
        """Return the measured and estimated hours."""
        return (self.active_ms + self.estimated_ms) / MS_PER_HOUR

    @property
    def pace(self) -> Pace:
        """Return the timed labels and their seconds."""
        return Pace(self.labels - self.untimed, self.active_ms / 1000)


NO_WORK = WorkSum()


@dataclass(frozen=True)
class SheetRow:
    """The work of a person in a topic on a day, in a round of a task or the official one."""

    person: User
    task: Task
    round: Round | None
    topic: Topic
    day: date
    work: WorkSum

    @property
    def kind(self) -> str:
        """Return the kind of the round, or `OFFICIAL`."""
        return self.round.kind if self.round else OFFICIAL

    @property
    def round_key(self) -> str:
        """Return the name of the round in files."""
        return self.round.key if self.round else OFFICIAL


class SheetPlace(NamedTuple):
    """A round of a task, and one of its topics or None for all."""

    task: Task
    round: Round | None
    topic: Topic | None = None

    @property
    def order(self) -> tuple[object, ...]:
        """Return the place in the order of the lab: tasks, rounds, topics."""
        round_order = (self.round.kind, self.round.number) if self.round else ("", 0)
        position = self.topic.position if self.topic else 0
        return (self.task.position, self.task.pk, *round_order, position)


@dataclass(frozen=True)
class SheetPart:
    """The part of a time sheet between two days, in one task or all, and in kinds of rounds."""

    first: date | None = None
    last: date | None = None
    task: Task | None = None
    kinds: Collection[str] = USUAL_KINDS

    def has(self, row: SheetRow) -> bool:
        """Return whether a row belongs to the part."""
        return (
            (self.first is None or row.day >= self.first)
            and (self.last is None or row.day <= self.last)
            and (self.task is None or row.task == self.task)
            and row.kind in self.kinds
        )


@dataclass(frozen=True)
class PersonHours:
    """All work of a person, and its cost if the lab has an hourly rate."""

    person: User
    work: WorkSum
    cost: Decimal | None


class SheetLine(NamedTuple, Generic[Key]):
    """The work of a day or a place: of each person, and of all."""

    key: Key
    works: list[WorkSum]
    total: WorkSum


@dataclass(frozen=True)
class TimeSheet:
    """The work in a lab in order; `nameless` imported labels without assessor are not in it."""

    rule: PayRule
    rows: list[SheetRow]
    nameless: int = 0

    @cached_property
    def people(self) -> list[PersonHours]:
        """Return the work of each person; costs are to the cent, so that they add up."""
        works, rate = _sums(self.rows, lambda row: row.person), self.rule.hourly_rate

        def cost(work: WorkSum) -> Decimal | None:
            milliseconds = work.active_ms + work.estimated_ms
            exact = None if rate is None else rate * milliseconds / MS_PER_HOUR
            return exact and exact.quantize(Decimal("0.01"), ROUND_HALF_UP)

        return [PersonHours(person, work, cost(work)) for person, work in works.items()]

    @property
    def total(self) -> WorkSum:
        """Return all work."""
        return sum((hours.work for hours in self.people), NO_WORK)

    @property
    def total_cost(self) -> Decimal | None:
        """Return the sum of what each person is paid, or None without an hourly rate."""
        costs = [hours.cost for hours in self.people if hours.cost is not None]
        return sum(costs, Decimal("0.00")) if self.rule.hourly_rate is not None else None

    @property
    def days(self) -> list[SheetLine[date]]:
        """Return the work of each day in order: of each person, and of all."""
        return sorted(self._lines(lambda row: row.day), key=lambda line: line.key)

    @property
    def topics(self) -> list[SheetLine[SheetPlace]]:
        """Return the work in each topic in order: of each person, and of all."""
        lines = self._lines(lambda row: SheetPlace(row.task, row.round, row.topic))
        return sorted(lines, key=lambda line: line.key.order)

    @property
    def rounds(self) -> list[SheetLine[SheetPlace]]:
        """Return the work in each round of each task in order: of each person, and of all."""
        lines = self._lines(lambda row: SheetPlace(row.task, row.round))
        return sorted(lines, key=lambda line: line.key.order)

    def _lines(self, key: Callable[[SheetRow], Key]) -> list[SheetLine[Key]]:
        works = _sums(self.rows, lambda row: (key(row), row.person))
        return [
            SheetLine(name, [works.get((name, it.person), NO_WORK) for it in self.people], total)
            for name, total in _sums(self.rows, key).items()
        ]

    def part(self, part: SheetPart) -> TimeSheet:
        """Return a part of the sheet."""
        return replace(self, rows=[row for row in self.rows if part.has(row)])

    def with_estimates(self) -> TimeSheet:
        """Return the sheet with an estimated time for the labels that have none.

        It is the mean time of a label of the same person in the same task, else of the task, as in
        the estimated completion. Estimate before you take a part, so that the parts add up.
        """
        person_sums = _sums(self.rows, lambda row: (row.task, row.person))
        tasks = _sums(self.rows, lambda row: row.task)

        def estimated(row: SheetRow) -> SheetRow:
            paces = (person_sums[row.task, row.person].pace, tasks[row.task].pace)
            seconds = expected_seconds(paces, usual=row.task.protocol.seconds)
            estimate = round(row.work.untimed * seconds * 1000)
            return replace(row, work=replace(row.work, estimated_ms=estimate))

        return replace(self, rows=list(map(estimated, self.rows)))


def _sums(rows: Iterable[SheetRow], key: Callable[[SheetRow], Key]) -> dict[Key, WorkSum]:
    sums: dict[Key, WorkSum] = defaultdict(WorkSum)
    for row in rows:
        sums[key(row)] += row.work
    return sums


SHEET_COLUMNS: dict[str, Callable[[SheetRow], object]] = {
    "assessor": lambda row: row.person.name,
    "username": lambda row: row.person.username,
    "task": lambda row: row.task.slug,
    "round": lambda row: row.round_key,
    "topic": lambda row: row.topic.query_id,
    "day": lambda row: row.day.isoformat(),
    "active_hours": lambda row: f"{row.work.active_hours:.6f}",
    "estimated_hours": lambda row: f"{row.work.estimated_hours:.6f}",
    "items": lambda row: row.work.items,
    "labels": lambda row: row.work.labels,
    "labels_without_time": lambda row: row.work.untimed,
    "labels_capped": lambda row: row.work.capped,
    "hours_not_seen": lambda row: f"{row.work.unseen_hours:.6f}",
}


def sheet_lines(sheet: TimeSheet) -> Iterator[bytes]:
    """Yield a time sheet as lines of CSV, which add up to the figures of its page."""
    return csv_lines(SHEET_COLUMNS, sheet.rows)


def zone_words(name: str) -> str:
    """Return the name of a time zone in texts for people."""
    return "anywhere on earth (AoE)" if name == ANYWHERE else name
