"""Queries on the guidelines for assessors."""

from __future__ import annotations

from collections.abc import Collection
from difflib import unified_diff
from itertools import islice

from django.db.models import Max, OuterRef

from arqlab.core.models import Task, User
from arqlab.ir.judgments.guidelines import default_guideline
from arqlab.ir.records import TaskKind
from assessment.models import Guideline, Judgment
from assessment.qrels.selectors.drafts import task_scale


def current_guideline(task: Task) -> Guideline | None:
    """Return the newest version of a task's guidelines, or None if it uses the default text."""
    return task.guidelines.order_by("-version").first()


def guideline_text(task: Task, guideline: Guideline | None) -> str:
    """Return the source of a version, or without one the protocol's default text for the task."""
    if guideline:
        return guideline.text
    return default_guideline(
        TaskKind(task.kind),
        task.lab.protocol,
        scale=task_scale(task),
        relevant_from=task.protocol.relevant_from,
    )


def changed_lines(before: str, after: str) -> list[tuple[str, str]]:
    """Compare two versions line by line and yield pairs of a mark and a line.

    The mark is `added`, `removed`, `same`, or `gap` between changes.
    """
    kinds = {"+": "added", "-": "removed", " ": "same", "@": "gap"}
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return [
        (kinds[line[0]], "…" if line[0] == "@" else line[1:]) for line in islice(lines, 2, None)
    ][1:]


def changed_guidelines(user: User, tasks: Collection[Task]) -> list[Guideline]:
    """Return the current guidelines that a person has not followed yet, in two queries.

    Only tasks in which the person has judged are included.
    """
    newest = Guideline.objects.filter(task=OuterRef("task")).order_by("-version").values("pk")[:1]
    current = Guideline.objects.filter(task__in=tasks, pk=newest).select_related("task__lab")
    own = Judgment.objects.filter(
        assessor=user, instance__item__topic__task__in=tasks, is_imported=False
    ).order_by()
    by = own.values("instance__item__topic__task").annotate(last=Max("guideline__version"))
    judged = {
        task: last or 0 for task, last in by.values_list("instance__item__topic__task", "last")
    }
    return [one for one in current if judged.get(one.task_id, one.version) < one.version]


def current_versions(tasks: Collection[Task]) -> dict[int, int]:
    """Return the current guideline version by task, without tasks that have none."""
    found = (
        Guideline.objects.filter(task__in=tasks)
        .order_by()
        .values("task")
        .annotate(newest=Max("version"))
    )
    return dict(found.values_list("task", "newest"))
