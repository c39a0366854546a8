"""Changes of what a lab pays, and time sheets as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

from django.db import transaction

from arqkit.formats.tables import csv_lines
from arqlab.core.models import Lab, User
from arqlab.core.services.audit import record_event
from assessment.models import PayRule
from assessment.timesheets.selectors.figures import SheetRow, TimeSheet

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


@transaction.atomic
def change_pay_rule(
    *, lab: Lab, hourly_rate: Decimal | None, currency: str, time_zone: str, by: User | None
) -> None:
    """Store what a lab pays, and record the old and new values."""
    Lab.objects.select_for_update().get(pk=lab.pk)
    rule = PayRule.of(lab)
    new = {"hourly_rate": hourly_rate, "currency": currency, "time_zone": time_zone}
    changes = {
        name: [_plain(getattr(rule, name)), _plain(value)]
        for name, value in new.items()
        if getattr(rule, name) != value
    }
    if not changes:
        return
    for name, value in new.items():
        setattr(rule, name, value)
    rule.save()
    record_event("pay.change", lab, by, changes=changes)


def _plain(value: object) -> str | None:
    return None if value is None else str(value)
