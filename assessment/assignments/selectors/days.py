"""The items judged per day, and those expected until the estimated completion."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Count
from django.db.models.functions import TruncDate
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

from arqkit.judgments.completion import expected_per_day
from arqlab.core.models import Task
from assessment.assignments.selectors.rows import AssignmentGrid
from assessment.models import Judgment

HORIZON = timedelta(days=90)
"""How far ahead the forecast is shown."""


class LocalDay(TruncDate):
    """The day of a time in a time zone.

    SQLite calls a Python function for each row, except for days in UTC here.
    """

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **options: Any
    ) -> Any:
        """Return the SQL for SQLite."""
        if self.get_tzname() != "UTC":
            return self.as_sql(compiler, connection, **options)
        sql, parameters = compiler.compile(self.lhs)
        return f"date({sql})", parameters


class JudgedDay(NamedTuple):
    """A day: the items judged, None in the future, and those expected, None without a forecast."""

    day: date
    judged: int | None
    expected: float | None


@dataclass(frozen=True)
class JudgedDays:
    """All days from the first judgment to the estimated completion or the last deadline.

    `is_partial` means that the forecast leaves out items, `is_cut` that it goes on after the last
    day.
    """

    days: list[JudgedDay]
    deadlines: dict[str, date]
    is_partial: bool
    is_cut: bool

    @property
    def busy_days(self) -> list[JudgedDay]:
        """Return the days with judged or expected items."""
        return [row for row in self.days if row.judged or row.expected]

    @property
    def has_forecast(self) -> bool:
        """Return whether items are expected on some day."""
        return any(row.expected for row in self.days)

    @property
    def data(self) -> dict[str, Any]:
        """Return the data of the chart, as `js/charts.js` reads it."""
        days = [
            {"day": row.day.isoformat(), "judged": row.judged, "expected": row.expected}
            for row in self.days
        ]
        deadlines = [{"name": name, "day": day.isoformat()} for name, day in self.deadlines.items()]
        return {"days": days, "deadlines": deadlines}


def judged_days(task: Task, grid: AssignmentGrid, *, at: datetime) -> JudgedDays | None:
    """Return the days of judging with their forecast, or None if nothing was judged yet.

    As in the estimated completion, imported judgments do not count, because their times may all be
    that of the import.
    """
    now = timezone.localtime(at)
    judged = _judged_by_day(task)
    if not judged:
        return None
    parts = [(row.left, row.finish) for row in grid.people if row.left and row.finish]
    end = max((timezone.localdate(finish) for _, finish in parts), default=now.date())
    last = min(end, now.date() + HORIZON)
    expected = expected_per_day(parts, at=now, until=last)
    if expected:
        expected[now.date()] += judged.get(now.date(), 0)
    first = min(judged)
    deadlines = _deadlines(task, first, now.date() + HORIZON)
    final = max([last, *deadlines.values()])
    days = [first + timedelta(days=number) for number in range((final - first).days + 1)]
    return JudgedDays(
        [_row(day, judged, expected, today=now.date()) for day in days],
        deadlines=deadlines,
        is_partial=bool(parts) and grid.finish is None,
        is_cut=end > last,
    )


def _deadlines(task: Task, first: date, last: date) -> dict[str, date]:
    """Return the days of the task's deadlines from the first through the last day, by name."""
    named = {"submission deadline": task.deadline, "judging deadline": task.judging_deadline}
    days = {name: timezone.localdate(at) for name, at in named.items() if at}
    return {name: day for name, day in days.items() if first <= day <= last}


def _judged_by_day(task: Task) -> dict[date, int]:
    """Return the number of items judged by day, in the time zone of the pages."""
    days = (
        Judgment.official.filter(
            instance__item__pool__task=task, is_current=True, is_imported=False
        )
        .order_by()
        .annotate(day=LocalDay("judged_at"))
        .values("day")
        .annotate(items=Count("instance__item", distinct=True))
    )
    return dict(days.values_list("day", "items"))


def _row(
    day: date, judged: dict[date, int], expected: dict[date, float], *, today: date
) -> JudgedDay:
    count = judged.get(day, 0) if day <= today else None
    return JudgedDay(day, count, round(expected[day], 1) if day in expected else None)
