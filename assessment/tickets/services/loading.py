"""The guidelines and the policy of tickets that a lab folder has for its tasks."""

from __future__ import annotations

from datetime import datetime

from arqkit.formats.labs.folder import LabFile, TaskFile
from arqlab.core.models import Lab, Task, User
from arqlab.core.selectors import person_named
from assessment.guidelines.selectors.versions import guideline_text
from assessment.guidelines.services.versions import write_guideline
from assessment.models import TicketPolicy
from assessment.tickets.services.policies import edit_policy


def load_judging_rules(lab: Lab, file: LabFile, *, at: datetime, by: User | None) -> None:
    """Store guidelines and policies of a folder that were not loaded before.

    A task with a version of the same text, or with a policy, keeps what it has: changes made in
    the browser survive. Raise `UserError` for an unknown expert; the caller has a transaction.
    """
    tasks = {task.slug: task for task in Task.objects.filter(lab=lab).select_related("lab")}
    for each in file.tasks:
        _load_guidelines(tasks[each.slug], each, at=at, by=by)
        _load_policy(tasks[each.slug], each, by=by)


def _load_guidelines(task: Task, file: TaskFile, *, at: datetime, by: User | None) -> None:
    if file.judging.guidelines is None:
        return
    text = file.judging.guidelines.replace("\r\n", "\n").strip() + "\n"
    is_default = text == guideline_text(task, None)
    if not is_default and not task.guidelines.filter(text=text).exists():
        write_guideline(task=task, text=text, at=at, by=by)


def _load_policy(task: Task, file: TaskFile, *, by: User | None) -> None:
    rules = file.judging
    if not rules.actions or TicketPolicy.objects.filter(task=task).exists():
        return
    expert = person_named(rules.expert) if rules.expert else None
    edit_policy(
        task=task,
        actions=dict(rules.actions),
        expert=expert,
        expert_closes=rules.expert_closes,
        by=by,
    )
