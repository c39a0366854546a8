"""Load a lab and its tasks from a lab folder."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from arqkit.formats.labs.folder import LabFile, TaskFile
from arqkit.loads import NO_CHOICE, Change, Fate, LoadChanges, LoadChoice
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError, require_confirmed
from arqlab.core.models import AuditEvent, Lab, Membership, Task, User
from arqlab.labs.oddities import DEADLINES, past_deadlines
from arqlab.labs.services.archiving import require_unarchived
from arqlab.labs.services.labs import DATES, require_order
from arqlab.labs.services.people import grant_role
from arqlab.labs.services.topic_loading import TopicChanges, store_topics

OVERRIDE = "overrides."
"""The beginning of the field of a protocol value, such as `overrides.limit`."""
SUBMISSION_DATES = ("opens_at", "deadline")


@dataclass(frozen=True, slots=True)
class FolderEdit:
    """A value that loading would overwrite: its lab or LAB/TASK, field and both values.

    `reopens` is true if the new value would reopen a closed task.
    """

    record: str
    field: str
    old: object
    new: object
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


def _task_edits(
    task: Task,
    fields: Mapping[str, object],
    overrides: Mapping[str, object],
    edited: Mapping[tuple[str, str], object],
    *,
    at: datetime,
) -> list[FolderEdit]:
    """Return the edited values of a task that the folder would overwrite.

    `fields` and `overrides` are the values of the folder. A date that would reopen a closed task is
    included even if nobody edited it.
    """
    opening = {name: fields[name] for name in SUBMISSION_DATES if name in fields}
    dates = {name: getattr(task, name) for name in (*SUBMISSION_DATES, "closed_at")}
    later = Task(**dates | opening)
    reopens = task.state(at) == "closed" and later.state(at) != "closed"
    edits = []
    for name, value in fields.items():
        old, is_date = getattr(task, name), name in SUBMISSION_DATES
        if _differs(edited, str(task), name, old, value) or (is_date and reopens and old != value):
            edits.append(FolderEdit(str(task), name, old, value, reopens=is_date and reopens))
    for name, value in overrides.items():
        key, old = OVERRIDE + name, task.overrides.get(name)
        if _differs(edited, str(task), key, old, value):
            old_value = getattr(task.preset, name) if old is None else old
            edits.append(FolderEdit(str(task), key, old_value, value))
    return edits


def _differs(
    edited: Mapping[tuple[str, str], object], record: str, field: str, old: object, new: object
) -> bool:
    """Return whether the stored value is an edit that a different new value would overwrite."""
    key = record, field
    if old == new or key not in edited:
        return False
    last = edited[key]
    if isinstance(old, datetime) and isinstance(last, str):
        return datetime.fromisoformat(last) == old
    return last == old


def _edited_values(lab: Lab) -> dict[tuple[str, str], object]:
    """Return the last values that organizers gave to the fields of a lab and its tasks.

    The keys are the lab or task and the field.
    """
    verbs = ("lab.change", "task.change")
    events = AuditEvent.objects.filter(lab=lab, verb__in=verbs).order_by("at", "pk")
    values: dict[tuple[str, str], object] = {}
    for verb, target, detail in events.values_list("verb", "target", "detail"):
        record = lab.slug if verb == "lab.change" else target
        for name, (old, new) in detail.get("changes", {}).items():
            if name == "overrides":
                changed = {rule for rule in {*old, *new} if old.get(rule) != new.get(rule)}
                values |= {(record, OVERRIDE + rule): new.get(rule) for rule in changed}
            else:
                values[record, name] = new
    return values


def _shown(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S} UTC"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "none" if value in (None, "") else str(value)


@transaction.atomic
def load_lab_file(
    lab_file: LabFile,
    *,
    by: User | None,
    at: datetime | None = None,
    choice: LoadChoice = NO_CHOICE,
    changes: TopicChanges | None = None,
) -> Lab:
    """Create or update the lab, its tasks and its topics, and typeset the topics.

    Loading twice changes nothing. Values that the folder does not set are kept: description, dates
    and rules that organizers set on the pages, tasks missing from the folder (they may have runs),
    and the topics of a task for which the folder names no file. Other topics missing from the
    folder are deleted; raises `UserError` if judging needs one of them. The user who loads a new
    lab organizes it.

    Values that were edited in the browser and differ from the folder are kept or overwritten, as
    `choice.keeps_edits` says; if it is None, raises `FolderEditsError` with them. So are dates that
    would reopen a task that is closed `at` this time.

    Raises `UnconfirmedLoadError` if stored topics would change, or a deadline to a date in the past
    (a new task may have one); a caller that loads more passes `changes`, to which these are added,
    and asks itself. Raises `UserError` (`archived`) if the lab is archived, or an archived task
    would change.
    """
    topic_changes, at = changes or TopicChanges(LoadChanges()), at or timezone.now()
    edits = _decided_edits(lab_file, at=at, keeps_edits=choice.keeps_edits)
    kept_edits = {(edit.record, edit.field) for edit in edits if choice.keeps_edits}
    lab, is_new = _lab_of(lab_file, by=by)
    changed = _update(lab, _without_kept(lab, _lab_fields(lab_file), kept_edits))
    tasks = _load_tasks(lab, lab_file.tasks, kept_edits=kept_edits, topics=topic_changes, at=at)
    if is_new or changed or tasks:
        record_event(
            "lab.load",
            lab,
            by,
            tasks=tasks,
            edits=list(map(str, edits)),
            changed=changed,
            keeps_edits=bool(kept_edits),
            changes=topic_changes.texts,
        )
    if changes is None:
        require_confirmed(topic_changes.load, choice.confirmed)
    return lab


def _lab_of(lab_file: LabFile, *, by: User | None) -> tuple[Lab, bool]:
    """Return the lab of a file, and whether it is new: who loads a new lab organizes it."""
    lab, is_new = Lab.objects.get_or_create(
        slug=lab_file.slug, defaults={"name": lab_file.name, "protocol": lab_file.protocol.slug}
    )
    if is_new and by is not None:
        grant_role(lab=lab, user=by, role=Membership.Role.ORGANIZER, by=by)
    return lab, is_new


def _decided_edits(
    lab_file: LabFile, *, at: datetime, keeps_edits: bool | None
) -> list[FolderEdit]:
    """Return the edited values that differ from the folder, or raise if nobody decided, or if the
    lab is archived.
    """
    lab = Lab.objects.filter(slug=lab_file.slug).first()
    if lab is None:
        return []
    require_unarchived(lab)
    edited = _edited_values(lab)
    edits = [
        FolderEdit(lab.slug, name, getattr(lab, name), value)
        for name, value in _lab_fields(lab_file).items()
        if _differs(edited, lab.slug, name, getattr(lab, name), value)
    ]
    tasks = {task.slug: task for task in Task.objects.filter(lab=lab).select_related("lab")}
    for position, file in enumerate(lab_file.tasks, start=1):
        if file.slug in tasks:
            fields = _task_fields(file, position=position)
            edits += _task_edits(tasks[file.slug], fields, file.overrides, edited, at=at)
    if edits and keeps_edits is None:
        raise FolderEditsError(edits)
    return edits


def _lab_fields(lab_file: LabFile) -> dict[str, object]:
    return {"name": lab_file.name, "protocol": lab_file.protocol.slug}


def _without_kept(
    record: Lab | Task,
    fields: dict[str, object],
    kept_edits: Set[tuple[str, str]],
    *,
    prefix: str = "",
) -> dict[str, object]:
    """Return the fields without those whose edited value is kept."""
    record_name = record.slug if isinstance(record, Lab) else str(record)
    return {
        name: value
        for name, value in fields.items()
        if (record_name, prefix + name) not in kept_edits
    }


def _load_tasks(
    lab: Lab,
    files: Iterable[TaskFile],
    *,
    kept_edits: Set[tuple[str, str]],
    topics: TopicChanges,
    at: datetime,
) -> list[str]:
    """Create or update the tasks of a folder in its order; return the slugs of those changed."""
    return [
        file.slug
        for position, file in enumerate(files, start=1)
        if _load_task(lab, file, position=position, kept_edits=kept_edits, topics=topics, at=at)
    ]


def _load_task(
    lab: Lab,
    task_file: TaskFile,
    *,
    position: int,
    kept_edits: Set[tuple[str, str]],
    topics: TopicChanges,
    at: datetime,
) -> bool:
    """Create or update a task from the folder; return whether anything changed."""
    fields = _task_fields(task_file, position=position)
    task, is_new = Task.objects.get_or_create(lab=lab, slug=task_file.slug, defaults=fields)
    overrides = _without_kept(task, dict(task_file.overrides), kept_edits, prefix=OVERRIDE)
    changes = _without_kept(task, fields, kept_edits)
    require_order(Task(**{name: changes.get(name, getattr(task, name)) for name in DATES}))
    for field, sentence in () if is_new else past_deadlines(task, changes, at=at).items():
        topics.load.add(DEADLINES[field], Fate.CHANGED, Change(sentence))
    changed = bool(_update(task, changes | {"overrides": task.overrides | overrides}))
    changed = bool(store_topics(task, task_file, topics) or changed or is_new)
    if changed:
        require_unarchived(task)
    return changed


def _task_fields(task_file: TaskFile, *, position: int) -> dict[str, object]:
    """Return the fields of a task that the folder sets."""
    # Six-column files have the items of the folder, else of the first qrels, as trec_eval needs.
    has_items = "items" in task_file.overrides or not task_file.qrels
    items = task_file.protocol.items if has_items else task_file.qrels[0].items
    fields: dict[str, object] = {"name": task_file.name, "kind": task_file.kind.value}
    fields |= {"position": position, "trec_items": items.value}
    if task_file.published_runs:
        fields["published_runs"] = task_file.published_runs.value
    dates = {"opens_at": task_file.opens, "deadline": task_file.deadline}
    dates["judging_deadline"] = task_file.judging_deadline
    return fields | {name: date for name, date in dates.items() if date}


def _update(record: Lab | Task, fields: dict[str, object]) -> list[str]:
    """Save the fields that differ and return their names."""
    changed = [name for name, value in fields.items() if getattr(record, name) != value]
    for name in changed:
        setattr(record, name, fields[name])
    record.save(update_fields=changed)
    return changed
