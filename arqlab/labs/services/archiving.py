"""Archiving of labs and tasks: they become read-only, and can be restored."""

from datetime import datetime

from django.db import transaction
from django.urls import reverse

from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Task, User


@transaction.atomic
def set_archived(*, record: Lab | Task, at: datetime | None, by: User) -> None:
    """Archive a lab or task at a time, or restore it (None); nothing changes if it is so."""
    rows = type(record)._default_manager.filter(pk=record.pk, archived_at__isnull=at is not None)
    if rows.update(archived_at=at):
        what = "lab" if isinstance(record, Lab) else "task"
        record_event(f"{what}.{'archive' if at else 'restore'}", record, by)
    record.archived_at = at


def require_unarchived(record: Lab | Task) -> None:
    """Raise `UserError` (`archived`) if a lab or task, or the lab of the task, is archived."""
    if isinstance(record, Task):
        require_unarchived(record.lab)
    if record.archived_at is None:
        return
    if isinstance(record, Lab):
        what, page = "lab", reverse("labs:lab-edit", args=[record.slug])
    else:
        what, page = "task", reverse("labs:task-edit", args=[record.lab.slug, record.slug])
    raise UserError(
        f"The {what} {record} is archived, so it cannot be changed. An organizer can restore it on "
        f"its Settings page ({page}).",
        code="archived",
    )


def require_unarchived_path(path: str) -> None:
    """Raise as `require_unarchived` does for `LAB` or `LAB/TASK`; unknown ones pass."""
    lab_slug, _, task_slug = path.partition("/")
    tasks = Task.objects.select_related("lab").filter(lab__slug=lab_slug, slug=task_slug)
    for task in tasks:
        require_unarchived(task)
    for lab in Lab.objects.filter(slug=lab_slug):
        require_unarchived(lab)
