"""Changes of labs and tasks by organizers."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arqkit.labels import LabelScale
from arqkit.protocols.overrides import OverrideRefusedError, with_overrides
from arqlab.audit.services.recording import record_event, save_changes
from arqlab.core.errors import ConfirmationError, UserError
from arqlab.core.models import Lab, Task, User
from arqlab.labs.oddities import past_deadlines

LAB_FIELDS = frozenset({"name", "description", "is_public"})
TASK_FIELDS = frozenset(
    {
        *("name", "description", "opens_at", "deadline", "judging_deadline"),
        *("shows_own_scores", "takes_post_hoc_runs", "threads", "published_runs"),
    }
)
DATES = ("opens_at", "deadline", "judging_deadline", "closed_at")


@transaction.atomic
def change_lab(*, lab: Lab, changes: dict[str, object], by: User | None) -> Lab:
    """Change fields of a lab (`LAB_FIELDS`) and record the old and new values."""
    # Lock the lab: the log must record the values that these replace.
    lab = Lab.objects.select_for_update().get(pk=lab.pk)
    changed = save_changes(lab, changes, allowed=LAB_FIELDS)
    if changed:
        record_event("lab.change", lab, by, changes=changed)
    return lab


@transaction.atomic
def change_task(
    *,
    task: Task,
    changes: dict[str, object],
    protocol: dict[str, object],
    by: User | None,
    at: datetime | None = None,
    confirmed: bool | str = False,
) -> Task:
    """Change fields of a task (`TASK_FIELDS`) and of its protocol at a time, else now.

    `protocol` holds fields of `TaskProtocol`. A value is stored as an override only if it differs
    from the lab's preset; other overrides stay. Raises `UserError` if the dates are in the wrong
    order or the protocol is invalid, and `ConfirmationError` as `require_future` does.
    """
    # Lock the task: of two organizers who save at once, the second keeps the first's overrides.
    task = Task.objects.select_for_update(of=("self",)).select_related("lab").get(pk=task.pk)
    require_order(Task(**{name: changes.get(name, getattr(task, name)) for name in DATES}))
    require_future(task, changes, at=at or timezone.now(), confirmed=confirmed)
    other_overrides = {
        name: value for name, value in task.overrides.items() if name not in protocol
    }
    values = {name: _listed(value) for name, value in protocol.items()}
    overrides = other_overrides | {
        name: value
        for name, value in values.items()
        if value != _listed(getattr(task.preset, name))
    }
    try:
        with_overrides(task.preset, overrides)
    except OverrideRefusedError as error:
        raise UserError(str(error), code="protocol") from error
    changes = changes | {"overrides": overrides}
    changed = save_changes(task, changes, allowed=TASK_FIELDS | {"overrides"})
    if changed:
        record_event("task.change", task, by, changes=changed)
    return task


@transaction.atomic
def close_task(*, task: Task, by: User | None, at: datetime) -> None:
    """Close a task before its deadline. Raise `UserError` if it is already closed."""
    is_open = Q(closed_at=None) & (Q(deadline=None) | Q(deadline__gte=at))
    if not Task.objects.filter(is_open, pk=task.pk).update(closed_at=at):
        raise UserError(f"{task.name} is already closed.", code="task-closed")
    record_event("task.close", task, by)


@transaction.atomic
def reopen_task(*, task: Task, by: User | None) -> Task:
    """Return a task that was closed by hand, reopened. Raise `UserError` if nobody closed it."""
    if not Task.objects.filter(pk=task.pk, closed_at__isnull=False).update(closed_at=None):
        raise UserError(
            f"Nobody closed {task.name} before its deadline. To open it for longer, edit the task "
            "and set a later deadline.",
            code="task-not-closed",
        )
    record_event("task.reopen", task, by)
    return Task.objects.select_related("lab").get(pk=task.pk)


def require_order(task: Task) -> None:
    """Check the order of a task's dates: opening, deadline, judging deadline.

    Raise `UserError`: `dates` for the deadline, `judging-dates` for the judging deadline.
    """
    if task.opens_at and task.deadline and task.opens_at >= task.deadline:
        raise UserError(
            "The task opens after its deadline. Set an earlier opening time or a later deadline.",
            code="dates",
        )
    closes_at = task.closes_at or task.opens_at
    if task.judging_deadline and closes_at and task.judging_deadline <= closes_at:
        event = "closes for submission" if task.closes_at else "opens"
        raise UserError(
            f"The judging deadline is before the task {event}. Set a later judging deadline.",
            code="judging-dates",
        )


def require_future(
    task: Task, changes: dict[str, object], *, at: datetime, confirmed: bool | str
) -> None:
    """Check that the new deadlines of a task lie in the future, or that the user confirmed them.

    `task` has the stored deadlines, or none if it is new. Raises `ConfirmationError`
    (`past-deadline`, `past-judging_deadline`). `confirmed` is True, or the question of the earlier
    error.
    """
    sentences = past_deadlines(task, changes, at=at)
    question = f"Save the task with a date in the past. {' '.join(sentences.values())}"
    if sentences and confirmed is not True and confirmed != question:
        [field, *_] = sentences
        raise ConfirmationError(
            f"{' '.join(sentences.values())} Set a later date, or confirm it at the end of the "
            "form.",
            code=f"past-{field}",
            question=question,
        )


def _listed(value: object) -> object:
    """Return a value in its JSON form, so that saving it again changes nothing."""
    if isinstance(value, LabelScale):
        return value.rows()
    return list(value) if isinstance(value, tuple) else value
