"""How long judging takes, and when it will be finished, from what was judged so far."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from arqlab.ir.records import TaskKind

LAB_SECONDS: Mapping[TaskKind, float] = MappingProxyType(
    {TaskKind.ANSWERS: 44.1, TaskKind.FORMULAS: 26.6, TaskKind.WRITTEN_ANSWERS: 44.1}
)
"""Seconds an item took in ARQMath-3 (004 §4.4 and §5.4): what is expected before anything was
judged here.
"""

ENOUGH = 10
"""Items from which on a pace is trusted."""

LATELY = timedelta(days=7)
"""What was judged in this time tells how much is judged in a day."""


class Pace(NamedTuple):
    """Items that were judged with the time known, and their active seconds."""

    items: int = 0
    seconds: float = 0.0

    @property
    def each(self) -> float | None:
        """Return the mean seconds of an item; None where none was timed."""
        return self.seconds / self.items if self.items else None

    def plus(self, other: "Pace") -> "Pace":
        """Return both together."""
        return Pace(self.items + other.items, self.seconds + other.seconds)


def expected_seconds(paces: Iterable[Pace], *, kind: TaskKind) -> float:
    """Return the seconds an item is expected to take: the first pace that holds ENOUGH items, else
    what the lab's took.
    """
    return next(
        (pace.seconds / pace.items for pace in paces if pace.items >= ENOUGH), LAB_SECONDS[kind]
    )


def finishes(
    lefts: Iterable[int], *, lately: int, since: datetime | None, at: datetime
) -> list[datetime | None]:
    """Return when parts of work, done one after the other, will be finished at the rate of these
    days.

    `lefts` are the items left of each part; `lately` how many were judged within LATELY before
    `at`, by somebody who judges since `since`. A day at least is counted. None for a part without
    items left, and for all where nothing was judged lately: then nobody can tell.
    """
    if not lately or since is None:
        return [None for _ in lefts]
    a_day = lately / (min(LATELY, max(at - since, timedelta(days=1))) / timedelta(days=1))
    found: list[datetime | None] = []
    before = 0
    for left in lefts:
        before += left
        found.append(at + timedelta(days=before / a_day) if left else None)
    return found
