"""What is read for judging: the topics and items of an assessor, and the judgments that count for them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, FilteredRelation, OuterRef, Q, QuerySet

from arqlab.core.models import Membership, Topic
from arqlab.core.permissions import Visitor
from assessment.models import Assignment, Judgment, PoolInstance, PoolItem

STAFF = (Membership.Role.ASSESSOR, Membership.Role.ORGANIZER)


class Progress(NamedTuple):
    """The items of a topic: all, those with all their labels, and those put off."""

    total: int
    done: int
    later: int


def assigned_topics(user: Visitor) -> QuerySet[Topic]:
    """Give the topics that an assessor judges now. Who has no role in the lab any more judges nothing there."""
    if user.pk is None:
        return Topic.objects.none()
    open_ones = Assignment.objects.filter(topic=OuterRef("pk"), assessor_id=user.pk, ended_at=None)
    if user.is_superuser:
        return Topic.objects.filter(Exists(open_ones))
    roles = Membership.objects.filter(lab=OuterRef("task__lab"), user_id=user.pk, role__in=STAFF)
    return Topic.objects.filter(Exists(open_ones), Exists(roles))


def free_for(user_id: int, *, at: datetime) -> Q:
    """Say of items that no other assessor has one on the page."""
    return Q(leased_until=None) | Q(leased_until__lte=at) | Q(leased_to=user_id)


def open_items(topic_id: int) -> QuerySet[PoolItem]:
    """Give the items of a topic in the pools that take judgments."""
    return PoolItem.objects.filter(topic=topic_id, pool__closed_at=None)


def waiting_items(topic_id: int, user_id: int, *, at: datetime, have: Collection[int]) -> QuerySet[PoolItem]:
    """Give the items that an assessor may take next but for those that the page has, in no order."""
    return open_items(topic_id).filter(free_for(user_id, at=at), done_at=None).exclude(pk__in=have)


class Shown(NamedTuple):
    """An instance with its item and post, and the judgment that counts, if there is one."""

    instance: PoolInstance
    current: Judgment | None


def shown_instances(items: Collection[int] | QuerySet[PoolItem]) -> tuple[Shown, ...]:
    """Give the instances of items in their order, with all that a page shows of them, in one query."""
    found: QuerySet[Any] = PoolInstance.objects.filter(item__in=items).annotate(
        current=FilteredRelation("judgments", condition=Q(judgments__is_current=True))
    )
    rows = found.select_related("item", "shown_post", "current").order_by("position")
    # Django sets no attribute where the join found nothing.
    return tuple(Shown(row, getattr(row, "current", None)) for row in rows)


def progress_of(topic_id: int) -> Progress:
    """Count the items of a topic in one query."""
    put_off = Q(done_at=None, later_at__isnull=False)
    counts = open_items(topic_id).aggregate(total=Count("pk"), done=Count("done_at"), later=Count("pk", filter=put_off))
    return Progress(**counts)


def own_judgments(topic_id: int, user_id: int) -> QuerySet[Judgment]:
    """Give the judgments of an assessor that count in a topic, with instance and item, in the order of the items."""
    return (
        Judgment.objects.filter(instance__item__topic=topic_id, assessor=user_id, is_current=True)
        .select_related("instance__item__pool")
        .order_by("instance__item__pool__number", "instance__item__position", "instance__position")
        .annotate(number=F("instance__item__position"))
    )
