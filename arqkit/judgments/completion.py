"""Estimates of how long judging takes and when it will be complete.

The unit of work is a label: of a post, of an answer, of an instance of a formula.
"""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import NamedTuple

ENOUGH = 10
"""The number of timed labels from which a pace is trusted."""

RECENT = timedelta(days=7)
"""The period whose judgments determine how many labels are given per day."""

DAY = timedelta(days=1)


class Pace(NamedTuple):
    """The number of timed labels and their total active seconds."""

    labels: int = 0
    seconds: float = 0.0

    @property
    def each(self) -> float | None:
        """Return the mean seconds per label, or None if no label was timed."""
        return self.seconds / self.labels if self.labels else None

    def plus(self, other: "Pace") -> "Pace":
        """Return the sum of two paces."""
        return Pace(self.labels + other.labels, self.seconds + other.seconds)


def expected_seconds(paces: Iterable[Pace], *, usual: float) -> float:
    """Return the expected seconds per label: of the first pace with ENOUGH labels, else `usual`.

    `usual` is `TaskProtocol.seconds`.
    """
    return next((pace.seconds / pace.labels for pace in paces if pace.labels >= ENOUGH), usual)


def estimated_completions(
    remaining: Iterable[int], *, recent: int, since: datetime | None, at: datetime
) -> list[datetime | None]:
    """Return the estimated completion of each part of the work, done one part after the other.

    `remaining` holds the number of missing labels of each part. `recent` is the number of labels
    given in the RECENT period before `at` by an assessor whose first label was at `since`; the
    rate is computed over at least one day. The result is None for a part without missing labels,
    and for every part if there are no recent ones.
    """
    if not recent or since is None:
        return [None for _ in remaining]
    labels_per_day = recent / (min(RECENT, max(at - since, DAY)) / DAY)
    completions: list[datetime | None] = []
    total = 0
    for labels in remaining:
        total += labels
        completions.append(at + total / labels_per_day * DAY if labels else None)
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
