"""Values edited in the browser that loading the lab's folder would overwrite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent, Lab, Task

OVERRIDE = "overrides."
"""The beginning of the field of a protocol value, such as `overrides.limit`."""
DATES = ("opens_at", "deadline")


@dataclass(frozen=True, slots=True)
class FolderEdit:
    """A value that loading would overwrite: its lab or task, its field, and both values.

    `reopens` is true if the new value would reopen a closed task.
    """

    record: str
    field: str
    old: Any
    new: Any
    reopens: bool = False

    def __str__(self) -> str:
        name = self.field.removeprefix(OVERRIDE)
        reopening = " (reopens the task)" * self.reopens
        return f"{self.record} {name}: {_shown(self.old)} -> {_shown(self.new)}{reopening}"


class FolderEditsError(UserError):
    """Loading would overwrite edited values, and the caller has not decided about them."""

    def __init__(self, edits: Iterable[FolderEdit]) -> None:
        self.edits = tuple(edits)
        listed = "; ".join(map(str, self.edits))
        super().__init__(
            "Nothing was loaded, because the folder has other values than those edited in the "
            f"browser: {listed}. Choose whether to overwrite or to keep the edited values.",
            code="edited",
        )


def record_name(record: Lab | Task) -> str:
    """Return the name of a lab or task in `FolderEdit.record`, which edits do not change."""
    return record.slug if isinstance(record, Lab) else str(record)


def lab_edits(lab: Lab, fields: Mapping[str, Any]) -> list[FolderEdit]:
    """Return the values of a lab that were edited and that `fields` of the folder differ from."""
    edited = _edited_values(lab)
    return [
        FolderEdit(record_name(lab), name, getattr(lab, name), value)
        for name, value in fields.items()
        if _differs(edited, record_name(lab), name, getattr(lab, name), value)
    ]


def task_edits(
    task: Task, fields: Mapping[str, Any], overrides: Mapping[str, Any], *, at: datetime
) -> list[FolderEdit]:
    """Return the values of a task that were edited and that the folder would overwrite.

    `fields` and `overrides` are the values of the folder. A date that would reopen a closed task
    is included even if nobody edited it.
    """
    edited, preset = _edited_values(task.lab), task.preset
    opening = {name: fields[name] for name in DATES if name in fields}
    later = Task(**{name: getattr(task, name) for name in (*DATES, "closed_at")} | opening)
    reopens = task.state(at) == "closed" and later.state(at) != "closed"
    found = []
    for name, value in fields.items():
        old, is_date = getattr(task, name), name in DATES
        if _differs(edited, str(task), name, old, value) or (is_date and reopens and old != value):
            found.append(FolderEdit(str(task), name, old, value, reopens=is_date and reopens))
    for name, value in overrides.items():
        key, old = OVERRIDE + name, task.overrides.get(name)
        if _differs(edited, str(task), key, old, value):
            shown = getattr(preset, name) if old is None else old
            found.append(FolderEdit(str(task), key, shown, value))
    return found


def _differs(
    edited: Mapping[tuple[str, str], Any], record: str, field: str, old: Any, new: Any
) -> bool:
    """Return whether an edit of the field is still in place, and the new value is another one."""
    key = record, field
    if old == new or key not in edited:
        return False
    last = edited[key]
    is_time = isinstance(old, datetime) and isinstance(last, str)
    return bool((datetime.fromisoformat(last) if is_time else last) == old)


def _edited_values(lab: Lab) -> dict[tuple[str, str], Any]:
    """Return the last values that organizers gave to the fields of a lab and its tasks.

    The keys are the lab or task and the field.
    """
    verbs = ("lab.change", "task.change")
    events = AuditEvent.objects.filter(lab=lab, verb__in=verbs).order_by("at", "pk")
    values: dict[tuple[str, str], Any] = {}
    for verb, target, detail in events.values_list("verb", "target", "detail"):
        record = record_name(lab) if verb == "lab.change" else target
        for name, (old, new) in detail.get("changes", {}).items():
            if name == "overrides":
                changed = {one for one in {*old, *new} if old.get(one) != new.get(one)}
                values |= {(record, OVERRIDE + one): new.get(one) for one in changed}
            else:
                values[record, name] = new
    return values


def _shown(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S} UTC"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "none" if value in (None, "") else str(value)
