"""What assignments would change: of topics, and in sum for each assessor."""

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from arqkit.formats.assignments import share_out
from arqlab.core.models import Task, Topic, User
from assessment.assignments.selectors.grid import (
    AssignmentGrid,
    PersonRow,
    TopicRow,
    assignment_grid,
)
from assessment.assignments.services.assigning import Pairs, assignment_changes
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


@dataclass(frozen=True, kw_only=True)
class AssignmentPreview:
    """The topics whose assessors would change, and the totals of all assessors.

    - kept: the pairs of topics and assessors, as the form sends them back.
    - confirmed: a digest of the changes, which tells later whether they are still the same.
    """

    changes: list[TopicChange]
    totals: list[PersonTotals]
    kept: str
    replaces: bool
    confirmed: str


def preview_assignments(
    task: Task, pairs: Pairs, *, replaces: bool, at: datetime
) -> AssignmentPreview:
    """Return what would change if these pairs were assigned."""
    grid = assignment_grid(task, at=at)
    changes = _changes(grid, pairs, replaces=replaces)
    changed = {change.row.topic.pk for change in changes}
    assignments = [
        share.assignment
        for row in grid.rows
        if row.topic.pk not in changed
        for share in row.open_shares
        if share.assignment
    ]
    assignments += [
        Assignment(topic=change.row.topic, assessor=person)
        for change in changes
        for person in change.then
    ]
    after = assignment_grid(task, at=at, assignments=assignments)
    later = {row.person: row for row in after.people}
    judges = {row.person for row in (*grid.judges, *after.judges)}
    totals = [
        PersonTotals(
            row,
            # Former assessors have no row after their last assignment ended.
            later.get(row.person) or replace(row, states={}, left=0, hours=0.0, finish=None),
        )
        for row in grid.people
        if row.person in judges
    ]
    return AssignmentPreview(
        changes=changes,
        totals=totals,
        kept=json.dumps([(topic.query_id, person.pk) for topic, person in pairs]),
        replaces=replaces,
        confirmed=assignment_changes(task, pairs, replaces=replaces).digest,
    )


def topics_shared_out(task: Task, *, at: datetime) -> list[tuple[Topic, User]] | None:
    """Return the unassigned topics, each with an assessor, so that all have as many items left.

    Returns None if the lab has no assessors.
    """
    grid = assignment_grid(task, at=at)
    people = [row for row in grid.people if row.is_assessor]
    if not people:
        return None
    rows = {row.topic.query_id: row for row in grid.unassigned}
    shared = share_out(
        {name: row.left for name, row in rows.items()}, {row.person: row.left for row in people}
    )
    return [(rows[name].topic, person) for name, person in shared]


def _changes(
    grid: AssignmentGrid, pairs: Collection[tuple[Topic, User]], *, replaces: bool
) -> list[TopicChange]:
    rows = {row.topic.pk: row for row in grid.rows}
    changes = []
    for topic in dict.fromkeys(topic for topic, _ in pairs):
        new = [person for pair_topic, person in pairs if pair_topic == topic]
        had = [share.person for share in rows[topic.pk].open_shares]
        then = new if replaces else [*had, *(person for person in new if person not in had)]
        if set(then) != set(had):
            changes.append(TopicChange(rows[topic.pk], had, then))
    return changes
