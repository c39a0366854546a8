"""The time sheets of a lab, added up by the database in one query.

Working time is the active time of all labels, also of those that were changed later or do not
count: the work was done. An import may repeat a stored label, for example with a new comment; then
only the label of the import counts, so that no time counts twice.
"""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDate

from arqlab.core.models import Lab, Topic, User
from assessment.models import Judgment, PayRule
from assessment.timesheets.selectors.figures import SheetRow, TimeSheet, WorkSum

OFFICIAL = "official"
"""The name of the official round in time sheets."""


def pay_rule_of(lab: Lab) -> PayRule:
    """Return what a lab pays, or an empty rule that is not stored."""
    return PayRule.objects.filter(lab=lab).first() or PayRule(lab=lab)


def time_sheet_of(lab: Lab, *, person: User | None = None) -> TimeSheet:
    """Return the time sheet of a lab, or of one person in it, in five queries."""
    rule = pay_rule_of(lab)
    judgments = Judgment.objects.filter(instance__item__topic__task__lab=lab)
    if person:
        judgments = judgments.filter(assessor=person)
    found = list(_grouped(judgments, ZoneInfo(rule.time_zone)))
    tasks = {task.pk: task for task in lab.tasks.all()}
    topics = {
        topic.pk: topic
        for topic in Topic.objects.filter(task__in=tasks).only("query_id", "position", "task")
    }
    for topic in topics.values():
        topic.task = tasks[topic.task_id]
    people = User.objects.in_bulk({row[0] for row in found if row[0]})
    rows = [
        SheetRow(people[by], topics[topic].task, OFFICIAL, topics[topic], day, _work(*figures))
        for by, topic, day, *figures in found
        if by
    ]
    rows.sort(
        key=lambda row: (
            row.person.name.casefold(),
            row.person.pk,
            row.task.position,
            row.task.pk,
            row.topic.position,
            row.day,
        )
    )
    return TimeSheet(rule, rows, sum(row[4] for row in found if not row[0]))


def _grouped(judgments: QuerySet[Judgment], zone: ZoneInfo) -> QuerySet[Judgment, Any]:
    """Return person, topic, day and the figures of `_work`."""
    repeated = Judgment.objects.filter(
        supersedes=OuterRef("pk"), is_imported=True, label=OuterRef("label")
    )
    is_timed = Q(active_ms__isnull=False)
    return (
        judgments.filter(~Exists(repeated))
        .order_by()
        .annotate(day=TruncDate(Coalesce("given_at", "judged_at"), tzinfo=zone))
        .values("assessor", "instance__item__topic", "day")
        .annotate(
            items=Count("instance__item", distinct=True),
            labels=Count("pk"),
            timed=Count("active_ms"),
            timed_items=Count("instance__item", distinct=True, filter=is_timed),
            time=Sum("active_ms", default=0),
        )
        .values_list(
            "assessor",
            "instance__item__topic",
            "day",
            "items",
            "labels",
            "timed",
            "timed_items",
            "time",
        )
    )


def _work(items: int, labels: int, timed: int, timed_items: int, active_ms: int) -> WorkSum:
    return WorkSum(items, labels, labels - timed, items - timed_items, active_ms)
