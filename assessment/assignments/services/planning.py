"""Applying a plan: assignments of the unassigned topics, and second assessors for later."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Task, Topic, User
from arqlab.core.services.audit import record_event
from assessment.assignments.selectors.grid import judging_staff
from assessment.assignments.services.assigning import (
    MAX_NAMED,
    Pairs,
    assign_topics,
    refuse_others,
    topics_by_person,
)
from assessment.models import Assignment, SecondPlan


@transaction.atomic
def apply_plan(
    *, task: Task, first: Pairs, second: Mapping[Topic, User], at: datetime, by: User | None
) -> tuple[int, int]:
    """Assign topics and replace the plan of second assessors of the task.

    Return the number of assignments made and of changed second assessors. Raise `UserError`, with
    nothing changed, if a topic got an assessor in the meantime (code `changed-meanwhile`), if
    somebody would judge a topic twice (code `same-person`), or if they may not judge (code
    `no-assessor`).
    """
    Task.objects.select_for_update().get(pk=task.pk)
    refuse_others(task, second.values())
    staff = judging_staff(task.lab).values("pk")
    open_ones = Assignment.objects.filter(topic__task=task, ended_at=None, assessor__in=staff)
    taken = set(open_ones.values_list("topic", "assessor"))
    assigned = {topic for topic, _ in taken}
    _refuse(
        [topic for topic, _ in first if topic.pk in assigned],
        "{} got an assessor in the meantime. Nothing was changed. Make the plan again.",
        code="changed-meanwhile",
    )
    judging = taken | {(topic.pk, person.pk) for topic, person in first}
    _refuse(
        [topic for topic, person in second.items() if (topic.pk, person.pk) in judging],
        "The first and the second assessor of {} are the same person. Nothing was changed. Choose "
        "another second assessor.",
        code="same-person",
    )
    made = assign_topics(task=task, pairs=first, replaces=False, at=at, by=by).made
    return made, _replace_seconds(task, second, at=at, by=by)


def _replace_seconds(
    task: Task, second: Mapping[Topic, User], *, at: datetime, by: User | None
) -> int:
    """Store the planned second assessors, and return how many topics changed."""
    had = {
        plan.topic_id: plan
        for plan in SecondPlan.objects.filter(topic__task=task).select_related("topic", "assessor")
    }
    changed = [
        (topic, person)
        for topic, person in second.items()
        if topic.pk not in had or had[topic.pk].assessor_id != person.pk
    ]
    wanted = {topic.pk: person.pk for topic, person in second.items()}
    gone = [plan for pk, plan in had.items() if wanted.get(pk) != plan.assessor_id]
    SecondPlan.objects.filter(pk__in=[plan.pk for plan in gone]).delete()
    SecondPlan.objects.bulk_create(
        SecondPlan(topic=topic, assessor=person, planned_by=by, planned_at=at)
        for topic, person in changed
    )
    if changed or gone:
        record_event(
            verb="topics.plan-second",
            target=task,
            lab=task.lab,
            actor=by,
            planned=topics_by_person(changed),
            removed=topics_by_person([(plan.topic, plan.assessor) for plan in gone]),
        )
    return len({topic.pk for topic, _ in changed} | {plan.topic_id for plan in gone})


def _refuse(topics: list[Topic], message: str, *, code: str) -> None:
    if topics:
        names = ", ".join(topic.query_id for topic in topics[:MAX_NAMED])
        more = f" and {len(topics) - MAX_NAMED} more" if len(topics) > MAX_NAMED else ""
        raise UserError(message.format(names + more), code=code)
