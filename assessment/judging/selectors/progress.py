"""The topics of an assessor, their progress, and the assessor's own judgments."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count, Q, QuerySet
from django.db.models.expressions import RawSQL

from arqlab.core.models import Topic, Visitor
from assessment.judging.selectors.statements import ASSIGNED
from assessment.models import Judgment, Pool, PoolItem


class Progress(NamedTuple):
    """The number of items of a topic: all, completed, skipped."""

    total: int
    done: int
    later: int


def assigned_topics(user: Visitor) -> QuerySet[Topic]:
    """Return the topics currently assigned to a user."""
    assigned = RawSQL(ASSIGNED, [user.pk])  # noqa: S611  # our words
    return Topic.objects.filter(pk__in=assigned) if user.pk else Topic.objects.none()


def open_items(topic_id: int) -> QuerySet[PoolItem]:
    """Return the items of a topic in the pools that are open for judging."""
    return PoolItem.objects.filter(topic=topic_id, pool__in=Pool.objects.filter(closed_at=None))


def progress_of(topic_id: int) -> Progress:
    """Count the items of a topic in one query."""
    put_off = Q(done_at=None, later_at__isnull=False)
    counts = open_items(topic_id).aggregate(
        total=Count("pk"), done=Count("done_at"), later=Count("pk", filter=put_off)
    )
    return Progress(**counts)


def own_judgments(topic_id: int, user_id: int) -> QuerySet[Judgment]:
    """Return an assessor's current judgments of a topic with instance and item, in item order."""
    return (
        Judgment.objects.filter(instance__item__topic=topic_id, assessor=user_id, is_current=True)
        .select_related("instance__item")
        .order_by("instance__item__pool__number", "instance__item__position", "instance__position")
    )


def is_judged_by(user_id: int, item_id: int) -> bool:
    """Return whether an item is completed and has current judgments of the assessor."""
    own = Judgment.objects.filter(instance__item=item_id, assessor=user_id, is_current=True)
    return own.filter(instance__item__done_at__isnull=False).exists()
