"""Estimates of how long judging takes and when it will be complete."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from arqlab.ir.records import TaskKind

LAB_SECONDS: Mapping[TaskKind, float] = MappingProxyType(
    {
        TaskKind.ANSWERS: 44.1,
        TaskKind.FORMULAS: 26.6,
        TaskKind.GENERATED_ANSWERS: 44.1,
        TaskKind.DOCUMENTS: 44.1,
    }
)
"""Seconds per item in ARQMath-3 (004 §4.4 and §5.4), used until this lab has its own timings; for
documents, those of answers."""

ENOUGH = 10
"""The number of timed items from which a pace is trusted."""

RECENT = timedelta(days=7)
"""The period whose judgments determine how many items are judged per day."""

DAY = timedelta(days=1)


class Pace(NamedTuple):
    """The number of timed judgments and their total active seconds."""

    items: int = 0
    seconds: float = 0.0

    @property
    def each(self) -> float | None:
        """Return the mean seconds per item, or None if no judgment was timed."""
        return self.seconds / self.items if self.items else None

    def plus(self, other: "Pace") -> "Pace":
        """Return the sum of two paces."""
        return Pace(self.items + other.items, self.seconds + other.seconds)


def expected_seconds(paces: Iterable[Pace], *, kind: TaskKind) -> float:
    """Return the expected seconds per item: the first pace with ENOUGH items, else ARQMath-3's."""
    return next(
        (pace.seconds / pace.items for pace in paces if pace.items >= ENOUGH), LAB_SECONDS[kind]
    )


def estimated_completions(
    remaining: Iterable[int], *, recent: int, since: datetime | None, at: datetime
) -> list[datetime | None]:
    """Return the estimated completion of each part of the work, done one part after the other.

    `remaining` holds the number of unjudged items of each part. `recent` is the number of items
    judged in the RECENT period before `at` by an assessor whose first judgment was at `since`; the
    rate is computed over at least one day. The result is None for a part without unjudged items,
    and for every part if there are no recent judgments.
    """
    if not recent or since is None:
        return [None for _ in remaining]
    items_per_day = recent / (min(RECENT, max(at - since, DAY)) / DAY)
    completions: list[datetime | None] = []
    total = 0
    for items in remaining:
        total += items
        completions.append(at + total / items_per_day * DAY if items else None)
    return completions


def expected_per_day(
    parts: Iterable[tuple[int, datetime]], *, at: datetime, until: date
) -> dict[date, float]:
    """Return the number of items expected on each day from that of `at` through `until`.

    `parts` holds numbers of unjudged items and their estimated completions after `at`. Each part is
    judged at an even rate. Days are those of the time zone of `at`. Without parts, the result is
    empty.
    """
    rates = [(items / ((end - at) / DAY), end) for items, end in parts]
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    expected: dict[date, float] = {}
    while rates and midnight.date() <= until:
        start, midnight = max(at, midnight), midnight + DAY
        spans = ((rate, max(timedelta(0), min(midnight, end) - start)) for rate, end in rates)
        expected[start.date()] = sum(rate * (span / DAY) for rate, span in spans)
    return expected
