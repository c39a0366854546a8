"""What an assessor has done and has left in a lab, by day, task and topic."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from arqlab.core.models import Lab, Task, Topic, User
from assessment.assignments.selectors.rows import TopicRow
from assessment.judging.selectors.own_work import own_work
from assessment.models import Round
from assessment.timesheets.selectors.figures import (
    NO_WORK,
    SheetPart,
    SheetPlace,
    TimeSheet,
    WorkSum,
)
from assessment.timesheets.selectors.sheets import time_sheet_of


@dataclass(frozen=True)
class OwnTopic:
    """A topic with the own work in it; `row` has what is left if it is assigned."""

    topic: Topic
    work: WorkSum
    row: TopicRow | None


@dataclass(frozen=True)
class OwnTask:
    """A round of a task with the own work in it, and what is left of the assigned topics.

    The official round is None; only its topics are assigned.
    """

    task: Task
    round: Round | None
    topics: tuple[OwnTopic, ...]

    @property
    def work(self) -> WorkSum:
        """Return the own work."""
        return sum((one.work for one in self.topics), NO_WORK)

    @property
    def assigned(self) -> list[TopicRow]:
        """Return the assigned topics."""
        return [one.row for one in self.topics if one.row]

    @property
    def left(self) -> int:
        """Return the number of items left."""
        return sum(row.left for row in self.assigned)

    @property
    def seconds_left(self) -> float:
        """Return the expected seconds for the items left."""
        return sum(row.seconds_left for row in self.assigned)


@dataclass(frozen=True)
class OwnHours:
    """The own work in a lab."""

    sheet: TimeSheet
    tasks: tuple[OwnTask, ...]

    @property
    def left(self) -> int:
        """Return the number of items left in all assigned topics."""
        return sum(task.left for task in self.tasks)

    @property
    def seconds_left(self) -> float:
        """Return the expected seconds for the items left."""
        return sum(task.seconds_left for task in self.tasks)

    @property
    def days(self) -> list[tuple[date, WorkSum]]:
        """Return the own work on each day with labels."""
        return [(day, work) for day, _, work in self.sheet.days]

    @property
    def data(self) -> dict[str, Any]:
        """Return the data of the chart, as `js/charts.js` reads it."""
        return {
            "days": [
                {
                    "day": day.isoformat(),
                    "items": work.items,
                    "seconds": None if work.pace.each is None else round(work.pace.each, 1),
                }
                for day, work in self.days
            ]
        }


def own_hours(lab: Lab, user: User, *, at: datetime) -> OwnHours:
    """Return what a user has done and has left in a lab."""
    sheet = time_sheet_of(lab, person=user).part(SheetPart())
    works = {place: total for place, _, total in sheet.topics}
    found = own_work(user, [lab], at=at).get(lab.pk)
    rows = {
        SheetPlace(row.topic.task, None, row.topic): row for row in (found.rows if found else ())
    }
    groups: dict[tuple[Task, Round | None], list[OwnTopic]] = {}
    for place in sorted({**works, **rows}, key=lambda place: place.order):
        topic = place.topic
        if topic:
            one = OwnTopic(topic, works.get(place, NO_WORK), rows.get(place))
            groups.setdefault((place.task, place.round), []).append(one)
    return OwnHours(sheet, tuple(OwnTask(*key, tuple(group)) for key, group in groups.items()))
