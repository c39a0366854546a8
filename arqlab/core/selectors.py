"""What is read about people, labs, tasks and topics."""

from __future__ import annotations

from django.db.models import QuerySet

from arqlab.core.errors import UserError
from arqlab.core.models import Membership, Task, Team, User


def task_named(path: str) -> Task:
    """Give the task that a command names as `LAB/TASK`.

    Raises `UserError` that names the known tasks when there is none of that name.
    """
    lab_slug, _, task_slug = path.partition("/")
    task = Task.objects.select_related("lab").filter(lab__slug=lab_slug, slug=task_slug).first()
    if task is None:
        known = ", ".join(str(task) for task in Task.objects.select_related("lab")) or "none; load a lab first"
        raise UserError(f"There is no task {path!r}. Give one as LAB/TASK; known are: {known}.", code="unknown-task")
    return task


def topic_ids(task: Task) -> tuple[str, ...]:
    """Give the ids of the task's topics in their order."""
    return tuple(task.topics.order_by("position").values_list("query_id", flat=True))


def teams_of(user: User, *, lab_id: int) -> QuerySet[Team]:
    """Give the teams of a lab that a person belongs to."""
    return Team.objects.filter(lab_id=lab_id, memberships__user=user)


def roles_of(user: User) -> QuerySet[Membership]:
    """Give a person's roles in all labs, with lab and team."""
    return Membership.objects.filter(user=user).select_related("lab", "team")
