"""The input of a plan of assignments, and the effect of the plan on each assessor."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from django.db.models import Exists, OuterRef

from arqkit.judgments.assignment_plan import (
    AssignmentPlan,
    PlanAssessor,
    PlanProblem,
    PlanTopic,
    Preference,
    plan_assignments,
    plan_of,
)
from arqkit.judgments.completion import expected_seconds
from arqlab.core.models import Task, User
from assessment.assignments.selectors.grid import TopicRow, assignment_grid, together
from assessment.assignments.selectors.left_out import judged_topics_of
from assessment.assignments.selectors.roster import RosterRow, planned_seconds, task_roster
from assessment.models import PoolItem

PlanEdits = tuple[Mapping[str, str], Mapping[str, str]]
"""The first and second assessors that an organizer changed by hand, by topic; "" for nobody."""


@dataclass(frozen=True)
class TaskPlanning:
    """The planning problem of a task, by ids of topics and keys of the assessors who may judge."""

    task: Task
    topics: list[TopicRow]
    people: list[RosterRow]
    problem: PlanProblem

    @property
    def rows(self) -> list[tuple[TopicRow, PlanTopic]]:
        """Return each topic with its entry in the problem."""
        return list(zip(self.topics, self.problem.topics, strict=True))

    @property
    def silent(self) -> list[RosterRow]:
        """Return the assessors who have marked no topic."""
        return [row for row in self.people if not row.bids]

    @property
    def unlimited(self) -> list[RosterRow]:
        """Return the assessors who did not enter their hours."""
        return [row for row in self.people if row.hours is None]

    @property
    def offering(self) -> int:
        """Return the number of assessors who entered their hours."""
        return len(self.people) - len(self.unlimited)

    @property
    def offered(self) -> float:
        """Return the sum of the hours offered."""
        return sum(row.hours or 0.0 for row in self.people)

    @property
    def needed(self) -> float:
        """Return the hours that assigned topics, unassigned topics and the overlap need."""
        problem = self.problem
        return sum(problem.fixed_hours.values()) + problem.first_hours + problem.second_hours

    @cached_property
    def names(self) -> dict[str, str]:
        """Return the names of the assessors by key."""
        return {str(row.person.pk): row.person.name for row in self.people}

    @property
    def open_problem(self) -> PlanProblem:
        """Return the problem without fixed second assessors, so that all of them can be changed."""
        topics = [topic._replace(second="") for topic in self.problem.topics]
        return replace(self.problem, topics=topics)


def plan_with_edits(planning: TaskPlanning, edits: PlanEdits) -> AssignmentPlan:
    """Return the best plan that keeps what an organizer changed by hand."""
    first, second = edits
    topics = [
        topic._replace(
            assessors=topic.assessors or ((first[name],) if first.get(name) else ()),
            second=second.get(name, topic.second),
            is_single=name in second,
        )
        for topic in planning.problem.topics
        for name in (topic.name,)
        if first.get(name) != ""
    ]
    plan = plan_assignments(replace(planning.problem, topics=topics))
    second_assessors = {topic.name: topic.second for topic in planning.problem.topics}
    choices = (
        {name: key for name, key in assessors.items() if key}
        for assessors in ({**plan.first, **first}, {**second_assessors, **plan.second, **second})
    )
    return plan_of(planning.open_problem, *choices, is_optimal=plan.is_optimal)


@dataclass(frozen=True)
class PersonPlan:
    """The effect of a plan on an assessor: hours, topics, and their bids for the new ones."""

    row: RosterRow
    hours: float
    first: list[str]
    second: list[str]

    @property
    def counts(self) -> Counter[str]:
        """Return the number of new topics by the assessor's choice, "" without one."""
        return Counter(self.row.bids.get(topic, "") for topic in (*self.first, *self.second))

    @property
    def declined(self) -> list[str]:
        """Return the new topics that the assessor declined."""
        new = (*self.first, *self.second)
        return [topic for topic in new if self.row.bids.get(topic) is Preference.NO]

    @property
    def over(self) -> float:
        """Return the hours above the offer."""
        return 0.0 if self.row.hours is None else max(0.0, self.hours - self.row.hours)


def task_planning(task: Task, *, overlap: int, expected_labels: int, at: datetime) -> TaskPlanning:
    """Return the planning problem of a task.

    A topic without items counts `expected_labels`. An assigned topic counts all its labels, because
    the hours offered are for the whole task; an unassigned one counts those left to judge. Topics
    that are left out, or finished without an assessor, are not planned.
    """
    grid = assignment_grid(task, at=at)
    people = [row for row in task_roster(task) if row.may_judge]
    seconds = planned_seconds(task)
    topics = [
        row
        for row in grid.rows
        if not row.is_left_out and (row.left or row.judging_shares or not row.total)
    ]
    keys: dict[User | None, str] = {row.person: str(row.person.pk) for row in people}
    plan_topics = [
        PlanTopic(
            row.topic.query_id,
            (row.labels if row.judging_shares else row.labels_left)
            if row.total
            else expected_labels,
            tuple(str(share.person.pk) for share in row.judging_shares),
            keys.get(seconds.get(row.topic.pk), ""),
        )
        for row in topics
    ]
    bids = {(topic, keys[row.person]): bid for row in people for topic, bid in row.bids.items()}
    paces = {row.person: row.pace for row in grid.people}
    everybody = together(paces.values())
    assessors = [
        PlanAssessor(
            keys[row.person],
            expected_seconds([paces[row.person], everybody], usual=task.protocol.seconds),
            row.hours,
        )
        for row in people
    ]
    return TaskPlanning(task, topics, people, PlanProblem(plan_topics, assessors, bids, overlap))


def people_in_plan(planning: TaskPlanning, plan: AssignmentPlan) -> list[PersonPlan]:
    """Return the effect of a plan on each assessor."""

    def topics_of(assessors: Mapping[str, str], key: str) -> list[str]:
        return [topic for topic, assessor in assessors.items() if assessor == key]

    return [
        PersonPlan(row, plan.hours[key], topics_of(plan.first, key), topics_of(plan.second, key))
        for row in planning.people
        for key in [str(row.person.pk)]
    ]


def expects_items(task: Task) -> bool:
    """Return whether a topic that will be judged has no items yet."""
    items = PoolItem.official.filter(topic=OuterRef("pk"))
    return judged_topics_of(task).filter(~Exists(items)).exists()
