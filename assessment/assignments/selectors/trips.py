"""Items leased for an offline trip: those whose lease is longer than that of an open page."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from arqlab.core.models import Membership, Task, User
from assessment.assignments.selectors.grid import JUDGING_ROLES
from assessment.models import PoolItem

LEASE = timedelta(minutes=30)
# Without a join of the item, so that a conditional UPDATE stays one.
_HOLDERS_ROLE = Exists(
    Membership.objects.filter(
        lab__tasks__topics=OuterRef("topic_id"),
        user=OuterRef("leased_to_id"),
        role__in=JUDGING_ROLES,
    )
)


class LongLease(NamedTuple):
    """The items of a topic that an assessor has leased for an offline trip."""

    topic: str
    person: User
    items: int
    until: datetime


def free_items(at: datetime) -> Q:
    """Return the condition that nobody has an item: a lease ends with the role of its holder."""
    return Q(leased_until=None) | Q(leased_until__lte=at) | Q(~_HOLDERS_ROLE)


def long_leases(at: datetime) -> QuerySet[PoolItem]:
    """Return the waiting items that are leased for longer than a page needs."""
    long = PoolItem.official.filter(done_at=None, leased_until__gt=at + LEASE)
    return long.filter(_HOLDERS_ROLE)


def own_leases(topic_id: int, user: User, at: datetime) -> QuerySet[PoolItem]:
    """Return the waiting items of a topic that are leased to a user, in their order."""
    own = PoolItem.official.filter(topic=topic_id, leased_to=user, leased_until__gt=at)
    return own.filter(done_at=None).order_by("pool_id", "position")


def trips_of_task(task: Task, *, at: datetime) -> list[LongLease]:
    """Return the offline trips in a task, by topic and assessor, in two queries."""
    rows = list(
        long_leases(at)
        .filter(topic__task=task)
        .order_by("topic__position", "leased_to")
        .values_list("topic__query_id", "leased_to")
        .annotate(items=Count("pk"), until=Max("leased_until"))
    )
    people = User.objects.in_bulk({person for _, person, *_ in rows}) if rows else {}
    return [LongLease(topic, people[person], *rest) for topic, person, *rest in rows]
