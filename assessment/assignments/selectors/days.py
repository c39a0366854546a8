"""The items judged per day, and those expected until the estimated completion."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from arqkit.judgments.completion import expected_per_day
from arqlab.core.models import Task
from assessment.assignments.selectors.grid import AssignmentGrid

HORIZON = timedelta(days=90)
"""How far ahead the forecast is shown."""


class JudgedDay(NamedTuple):
    """A day: the items judged, None in the future, and those expected, None without a forecast."""

    day: date
    judged: int | None
    expected: float | None


@dataclass(frozen=True)
class JudgedDays:
    """All days from the first judgment to the estimated completion or the last deadline.

    If `is_partial`, the forecast leaves out items; if `is_cut`, it goes on after the last day.
    """

    days: list[JudgedDay]
    deadlines: dict[str, date]
    is_partial: bool
    is_cut: bool

    @property
    def has_forecast(self) -> bool:
        """Return whether items are expected on some day."""
        return any(row.expected for row in self.days)

    @property
    def data(self) -> dict[str, object]:
        """Return the data of the chart, as `js/charts.js` reads it."""
        days = [
            {"day": row.day.isoformat(), "judged": row.judged, "expected": row.expected}
            for row in self.days
        ]
        deadlines = [{"name": name, "day": day.isoformat()} for name, day in self.deadlines.items()]
        return {"days": days, "deadlines": deadlines}


def judged_days(task: Task, grid: AssignmentGrid, *, at: datetime) -> JudgedDays | None:
    """Return the days of judging with their forecast, or None if nothing was judged here yet."""
    now = timezone.localtime(at)
    judged = Counter[date]()
    for tally in grid.tallies.values():
        judged.update(tally.days)
    if not judged:
        return None
    parts = [(row.left, row.finish) for row in grid.people if row.left and row.finish]
    end = max((timezone.localdate(finish) for _, finish in parts), default=now.date())
    horizon = now.date() + HORIZON
    last = min(end, horizon)
    expected = expected_per_day(parts, at=now, until=last)
    if expected:
        expected[now.date()] += judged.get(now.date(), 0)
    first = min(judged)
    named = {"submission deadline": task.deadline, "judging deadline": task.judging_deadline}
    dates = {name: timezone.localdate(moment) for name, moment in named.items() if moment}
    deadlines = {name: day for name, day in dates.items() if first <= day <= horizon}
    final = max([last, *deadlines.values()])
    return JudgedDays(
        [
            JudgedDay(
                day,
                judged.get(day, 0) if day <= now.date() else None,
                round(expected[day], 1) if day in expected else None,
            )
            for day in (first + timedelta(number) for number in range((final - first).days + 1))
        ],
        deadlines=deadlines,
        is_partial=bool(parts) and grid.finish is None,
        is_cut=end > last,
    )
