"""Filters of the home, lab and task pages."""

from collections.abc import Iterable, Mapping

from django import template

from arqlab.labs.selectors import LabRoles, LabRow, TaskRow
from desk.selectors import LabsOverview

register = template.Library()


@register.filter
def open_first(tasks: Iterable[TaskRow]) -> list[TaskRow]:
    """Return a lab's tasks in the order a team needs them: open tasks first."""
    return sorted(tasks, key=lambda row: row.state != "open")


@register.filter
def phase(row: LabRow, overview: LabsOverview) -> str:
    """Return the phase of a lab, such as `judging` (see `LabsOverview.phase`)."""
    return overview.phase(row)


@register.inclusion_tag("desk/_next_action.html")
def next_action(row: TaskRow, overview: LabsOverview, standing: LabRoles) -> dict[str, object]:
    """Return the next step of a person in a task for its button."""
    return {"cell": overview.next_cell(row, standing)}


@register.inclusion_tag("desk/_stages.html")
def task_stages(row: TaskRow, overview: LabsOverview, standing: LabRoles) -> dict[str, object]:
    """Return the stages of a task for its progress chart."""
    stages = overview.stages(row, organizes=standing.organizes)
    return {"stages": stages, "task": row.task}


@register.filter
def release_first(tasks: Iterable[TaskRow], boards: Mapping[int, str]) -> list[TaskRow]:
    """Return a lab's tasks in the order an organizer needs them.

    Closed tasks with a hidden leaderboard come first, then open tasks, then the rest.
    """
    waits = {
        row.task.pk: row.state == "closed" and boards.get(row.task.pk) == "hidden" for row in tasks
    }
    return sorted(tasks, key=lambda row: (not waits[row.task.pk], row.state != "open"))
