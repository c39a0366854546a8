"""The time sheets of a lab, added up by the database in one query.

Active hours include all labels, even those that were changed later or do not count, because the
time was spent on them. An import may repeat a stored label, for example with a new comment; then
only the label of the import counts, so that no time counts twice. Decisions of an adjudication
without a time were made in a meeting, not on the judging page: they are on no sheet. A label is
capped if the page reported at least `NOTICEABLE` more than the server saw; less is the network's.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from arqlab.core.models import Lab, Topic, User
from assessment.assignments.selectors.days import LocalDay
from assessment.models import Judgment, PayRule, Pool, Round
from assessment.timesheets.selectors.figures import SheetPlace, SheetRow, TimeSheet, WorkSum

NOTICEABLE = 1_000  # ms


def time_sheet_of(lab: Lab, *, person: User | None = None) -> TimeSheet:
    """Return the time sheet of a lab, or of one person in it, in six queries."""
    rule = PayRule.of(lab)
    judgments = Judgment.objects.filter(instance__item__pool__task__lab=lab)
    if person:
        judgments = judgments.filter(assessor=person)
    works: dict[tuple[Any, ...], WorkSum] = defaultdict(WorkSum)
    pools = Pool.objects.filter(task__lab=lab).select_related("task__lab", "round")
    places = {pool.pk: (pool.task, pool.round) for pool in pools.only("task", "round")}
    for by, pool, topic, day, *figures in _grouped(judgments, ZoneInfo(rule.time_zone)):
        works[by, *places[pool], topic, day] += _work(*figures)
    people = User.objects.in_bulk({by for by, *_ in works if by})
    topics = Topic.objects.only("query_id", "position").in_bulk({key[3] for key in works})
    rows = [
        SheetRow(people[by], task, round_, topics[topic], day, work)
        for (by, task, round_, topic, day), work in works.items()
        if by
    ]
    rows.sort(key=_order)
    return TimeSheet(rule, rows, sum(work.labels for (by, *_), work in works.items() if not by))


def _order(row: SheetRow) -> tuple[Any, ...]:
    place = SheetPlace(row.task, row.round, row.topic)
    return (row.person.name.casefold(), row.person.pk, *place.order, row.day)


def _grouped(judgments: QuerySet[Judgment], zone: ZoneInfo) -> QuerySet[Judgment, Any]:
    """Return person, pool, topic, day and the figures of `_work`."""
    repeated = Judgment.objects.filter(
        supersedes=OuterRef("pk"), is_imported=True, label=OuterRef("label")
    )
    decided = Q(instance__item__pool__round__kind=Round.Kind.ADJUDICATION, active_ms=None)
    is_capped = Q(reported_ms__gte=F("active_ms") + NOTICEABLE)
    return (
        judgments.filter(~Exists(repeated))
        .exclude(decided)
        .order_by()
        .annotate(day=LocalDay(Coalesce("given_at", "judged_at"), tzinfo=zone))
        .values("assessor", "instance__item__pool", "instance__item__topic", "day")
        .annotate(
            items=Count("instance__item", distinct=True),
            labels=Count("pk"),
            timed=Count("active_ms"),
            time=Sum("active_ms", default=0),
            capped=Count("pk", filter=is_capped),
            unseen=Sum(F("reported_ms") - F("active_ms"), filter=is_capped, default=0),
        )
        .values_list(
            "assessor",
            "instance__item__pool",
            "instance__item__topic",
            "day",
            "items",
            "labels",
            "timed",
            "time",
            "capped",
            "unseen",
        )
    )


def _work(items: int, labels: int, timed: int, *times: int) -> WorkSum:
    return WorkSum(items, labels, labels - timed, *times)
