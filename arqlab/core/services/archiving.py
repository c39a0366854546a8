"""Archiving of labs and tasks: they become read-only, and can be restored."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from arqlab.core.models import Lab, Task, User
from arqlab.core.services.audit import record_event


@transaction.atomic
def archive(*, record: Lab | Task, at: datetime, by: User) -> None:
    """Archive a lab or task; nothing changes if it is archived already."""
    _set(record, at, by)


@transaction.atomic
def restore(*, record: Lab | Task, by: User) -> None:
    """Restore a lab or task from the archive; nothing changes if it is not archived."""
    _set(record, None, by)


def _set(record: Lab | Task, at: datetime | None, by: User) -> None:
    found = type(record)._default_manager.filter(pk=record.pk, archived_at__isnull=at is not None)
    if found.update(archived_at=at):
        what = "lab" if isinstance(record, Lab) else "task"
        record_event(
            verb=f"{what}.{'archive' if at else 'restore'}",
            target=record,
            lab=record if isinstance(record, Lab) else record.lab,
            actor=by,
        )
    record.archived_at = at
