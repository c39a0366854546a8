"""The effect of assignments that are not stored yet: changes by topic, and totals by person."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from arqlab.core.models import Task, Topic, User
from assessment.assignments.selectors.grid import assignment_grid
from assessment.assignments.selectors.rows import AssignmentGrid, PersonRow, TopicRow
from assessment.models import Assignment


class TopicChange(NamedTuple):
    """A topic with its current and its new assessors."""

    row: TopicRow
    had: list[User]
    then: list[User]


class PersonTotals(NamedTuple):
    """A person's topics, items and hours now and after the change."""

    now: PersonRow
    then: PersonRow


@dataclass(frozen=True)
class AssignmentPreview:
    """The topics whose assessors change, and the totals of all assessors."""

    changes: list[TopicChange]
    totals: list[PersonTotals]

    @property
    def has_difficulty(self) -> bool:
        """Return whether a changed topic has a difficulty."""
        return any(change.row.difficulty for change in self.changes)


def preview_assignments(
    task: Task, pairs: Collection[tuple[Topic, User]], *, replaces: bool, at: datetime
) -> AssignmentPreview:
    """Return the effect of assigning topics to assessors, without storing anything."""
    grid = assignment_grid(task, at=at)
    changes = _changes(grid, pairs, replaces=replaces)
    changed = {change.row.topic.pk for change in changes}
    kept = [
        share.assignment
        for row in grid.topics
        if row.topic.pk not in changed
        for share in row.open_shares
        if share.assignment
    ]
    new = [
        Assignment(topic=change.row.topic, assessor=person)
        for change in changes
        for person in change.then
    ]
    return AssignmentPreview(
        changes, _totals(grid, assignment_grid(task, at=at, assignments=[*kept, *new]))
    )


def _changes(
    grid: AssignmentGrid, pairs: Collection[tuple[Topic, User]], *, replaces: bool
) -> list[TopicChange]:
    rows = {row.topic.pk: row for row in grid.topics}
    changes = []
    for topic in dict.fromkeys(topic for topic, _ in pairs):
        new = [person for each, person in pairs if each == topic]
        had = [share.person for share in rows[topic.pk].open_shares]
        then = new if replaces else [*had, *(person for person in new if person not in had)]
        if set(then) != set(had):
            changes.append(TopicChange(rows[topic.pk], had, then))
    return changes


def _totals(now: AssignmentGrid, then: AssignmentGrid) -> list[PersonTotals]:
    later = {row.person.pk: row for row in then.people}
    shown = {row.person.pk for row in [*now.judges, *then.judges]}
    return [
        PersonTotals(row, later.get(row.person.pk) or _without_topics(row))
        for row in now.people
        if row.person.pk in shown
    ]


def _without_topics(row: PersonRow) -> PersonRow:
    """Return the row of a former assessor after their last assignment ended."""
    return replace(row, states={}, left=0, hours=0.0, finish=None)
