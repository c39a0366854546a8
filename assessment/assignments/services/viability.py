"""Setting topics aside that will probably be dropped, and resuming their judging."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from arqlab.core.errors import UserError
from arqlab.core.models import Task, Topic, User
from arqlab.core.services.audit import record_event
from assessment.assignments.selectors.viability import keep_forecasts
from assessment.assignments.services.assigning import MAX_NAMED
from assessment.models import SetAsideTopic


@transaction.atomic
def set_topics_aside(
    *, task: Task, topics: Collection[Topic], at: datetime, by: User | None
) -> int:
    """Stop the judging of topics that may be dropped. Return how many topics changed.

    Their items stay open and keep their labels, but count as not left to judge. Raise `UserError`
    for a topic without items, and for one that has enough relevant items (code `is-kept`).
    """
    # Lock the task: of two organizers at once, the second must see the first's change.
    Task.objects.select_for_update().get(pk=task.pk)
    known = keep_forecasts(task)
    _refuse_kept(topics, {pk for pk, (_, probability) in known.items() if probability < 1})
    aside = set(_set_aside(topics).values_list("topic", flat=True))
    found = {topic.query_id: known[topic.pk] for topic in topics if topic.pk not in aside}
    SetAsideTopic.objects.bulk_create(
        SetAsideTopic(
            topic=topic,
            judged=found[topic.query_id][0].judged,
            relevant=found[topic.query_id][0].relevant,
            probability=found[topic.query_id][1],
            set_aside_at=at,
            set_aside_by=by,
        )
        for topic in topics
        if topic.query_id in found
    )
    if found:
        probabilities = {name: round(probability, 4) for name, (_, probability) in found.items()}
        record_event(
            verb="topics.set-aside", target=task, lab=task.lab, actor=by, kept=probabilities
        )
    return len(found)


@transaction.atomic
def resume_topics(*, task: Task, topics: Collection[Topic], at: datetime, by: User | None) -> int:
    """Resume the judging of topics that were set aside. Return how many topics changed."""
    Task.objects.select_for_update().get(pk=task.pk)
    found = _set_aside(topics)
    names = list(found.order_by("topic__position").values_list("topic__query_id", flat=True))
    found.update(ended_at=at)
    if names:
        record_event(verb="topics.resume", target=task, lab=task.lab, actor=by, topics=names)
    return len(names)


def _set_aside(topics: Collection[Topic]) -> QuerySet[SetAsideTopic]:
    return SetAsideTopic.objects.filter(topic__in=topics, ended_at=None)


def _refuse_kept(topics: Collection[Topic], doubtful: Collection[int]) -> None:
    names = [topic.query_id for topic in topics if topic.pk not in doubtful]
    if names:
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        raise UserError(
            f"Cannot set aside {', '.join(names[:MAX_NAMED])}{more}. Only a topic that may still "
            "be dropped for too few relevant items can be set aside. Nothing was changed.",
            code="is-kept",
        )
