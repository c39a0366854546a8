"""The leases of items: which nobody has, and which last for an offline trip."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from arqlab.core.models import Membership, Role, Task, User
from assessment.models import Assignment, PoolItem

LEASE = timedelta(minutes=30)
"""How long a page has an item. It renews the lease while the assessor works, and an item of a
closed page is free for others after that time."""

# Without a join of the item, so that a conditional UPDATE stays one.
_HOLDERS_ROLE = Exists(
    Membership.objects.filter(
        lab__tasks__topics=OuterRef("topic_id"),
        user=OuterRef("leased_to_id"),
        role__in=Role.judging(),
    )
)


def free_items(at: datetime) -> Q:
    """Return the condition that nobody has leased an item; a lease ends with its holder's role."""
    return Q(leased_until=None) | Q(leased_until__lte=at) | Q(~_HOLDERS_ROLE)


def long_leases(at: datetime) -> QuerySet[PoolItem]:
    """Return the waiting items that are leased for longer than a page needs."""
    long = PoolItem.official.filter(done_at=None, leased_until__gt=at + LEASE)
    return long.filter(_HOLDERS_ROLE)


class OfflineTrip(NamedTuple):
    """The items of a topic (its id) that an assessor has offline."""

    person: User
    topic: str
    items: int
    until: datetime


def trips_of_task(task: Task, *, at: datetime) -> list[OfflineTrip]:
    """Return the offline trips in a task, by topic and assessor, in two queries."""
    away = Assignment.objects.filter(topic__task=task, trip_until__gt=at)
    rows = (
        long_leases(at)
        .filter(topic__in=away.values("topic"))
        .order_by("topic__position", "leased_to")
        .values_list("leased_to", "topic__query_id")
        .annotate(items=Count("pk"), until=Max("leased_until"))
    )
    people = User.objects.in_bulk({person for person, *_ in rows})
    return [OfflineTrip(people[person], *trip) for person, *trip in rows]
