"""Filters of the pages of scores, and what the pages of labs, tasks and runs tell of scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django import template

from arqlab.core.models import Lab
from arqlab.core.permissions import Visitor
from arqlab.core.selectors import OwnLab, TaskRow
from evaluation import permissions, selectors
from submissions.models import Run

register = template.Library()


@register.filter
def signed(value: float | None) -> str:
    """Write a difference of scores with its sign and four decimals, and a dash where there is none."""
    return "–" if value is None else f"{value:+.4f}".replace("-", "−")


@register.filter
def open_first(tasks: Iterable[TaskRow]) -> list[TaskRow]:
    """Order a lab's tasks as a team needs them: the open ones, then the rest, else as they stand."""
    return sorted(tasks, key=lambda row: row.state != "open")


@register.filter
def release_first(tasks: Iterable[TaskRow], boards: Mapping[int, str]) -> list[TaskRow]:
    """Order a lab's tasks as an organizer needs them: closed ones whose leaderboard is hidden, open ones, the rest."""
    waits = {row.task.pk: row.state == "closed" and boards.get(row.task.pk) == "hidden" for row in tasks}
    return sorted(tasks, key=lambda row: (not waits[row.task.pk], row.state != "open"))


@register.simple_tag
def board_states(own_labs: Iterable[OwnLab]) -> dict[int, str]:
    """Give the state of each leaderboard in a person's labs, by the task's key."""
    return selectors.board_states(own.row.lab for own in own_labs)


@register.simple_tag
def board_states_in(lab: Lab) -> dict[int, str]:
    """Give the state of each task's leaderboard in one lab, by the task's key."""
    return selectors.board_states([lab])


@register.simple_tag
def shows_scores(run: Run, user: Visitor) -> bool:
    """Say whether a person may see the scores of a run, so that its page may lead to them."""
    return permissions.may_see_scores(user, run)
