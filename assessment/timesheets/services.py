"""Changes of what a lab pays, and time sheets as files."""

from collections.abc import Callable, Iterator
from decimal import Decimal

from django.db import transaction

from arqkit.formats.tables import csv_lines
from arqlab.core.models import Lab, User
from arqlab.core.services.audit import record_event, save_changes
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
    rule, _ = PayRule.objects.select_for_update().get_or_create(lab=lab)
    new = {"hourly_rate": hourly_rate, "currency": currency, "time_zone": time_zone}
    changed = save_changes(rule, new, allowed=new)
    for name, values in changed.items():
        changed[name] = [None if value is None else str(value) for value in values]
    if changed:
        record_event("pay.change", lab, by, changes=changed)
