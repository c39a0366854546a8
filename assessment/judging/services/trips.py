"""Offline trips: the first items of a topic, leased for longer, to judge without a network."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.templatetags.static import static

from arqlab.core.models import User
from assessment.assignments.selectors.trips import LEASE, long_leases, own_leases
from assessment.judging.selectors.items import Stack
from assessment.judging.selectors.progress import open_items
from assessment.judging.services.leases import kept_begin, unleased
from assessment.models import PoolItem

MAX_ITEMS = 50
MAX_HOURS = 7 * 24
DEFAULT_HOURS = 24
TRIP_HOURS = {6: "6 hours", 24: "24 hours", 72: "3 days", 168: "7 days"}
_PARTS = {".css", ".js", ".svg", ".woff2"}
_UNUSED = "vendor/echarts/"  # not on the pages that are prepared


class Trip(NamedTuple):
    """The items of a trip in their order, and the end of their leases."""

    items: tuple[int, ...]
    until: datetime | None


@transaction.atomic
def prepare_trip(*, topic_id: int, user: User, hours: int, at: datetime) -> Trip:
    """Lease the first items of a topic for some hours; items of an earlier trip return first.

    Rows that another assessor is locking are skipped. Takes three queries, whatever the number of
    items.
    """
    long_leases(at).filter(topic=topic_id, leased_to=user).update(leased_until=at + LEASE)
    waiting = open_items(Stack(topic_id), user.pk).filter(unleased(user, at), done_at=None)
    waiting = waiting.exclude(kept_from=user)  # what the user reported waits for another assessor
    ordered = waiting.order_by(F("later_at").asc(nulls_first=True), "pool_id", "position")
    locked = ordered.select_for_update(skip_locked=True, of=("self",))
    items = tuple(locked.values_list("pk", flat=True)[:MAX_ITEMS])
    until = at + timedelta(hours=hours)
    PoolItem.objects.filter(pk__in=items).update(
        leased_to=user, leased_since=kept_begin(user, at), leased_until=until
    )
    return Trip(items, until if items else None)


def trip_of(*, topic_id: int, user: User, at: datetime) -> Trip:
    """Return the waiting items of a topic that are leased to the user, and the last end."""
    rows = list(own_leases(topic_id, user, at).values_list("pk", "leased_until"))
    until = max((until for _, until in rows if until), default=None)
    return Trip(tuple(pk for pk, _ in rows), until)


@transaction.atomic
def end_trip(*, topic_id: int, user: User, have: list[int], at: datetime) -> int:
    """Return the items of a trip to their topic; the page keeps the items it has for a while.

    Return how many items others can take now.
    """
    own = long_leases(at).filter(topic=topic_id, leased_to=user)
    own.filter(pk__in=have).update(leased_until=at + LEASE)
    return own.exclude(pk__in=have).update(leased_to=None, leased_until=None)


def page_files() -> list[str]:
    """Return the addresses of the static files that judging and thread pages may load."""
    root = settings.BASE_DIR / "static"
    names = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return [
        static(name)
        for name in sorted(names)
        if name.endswith(tuple(_PARTS)) and not name.startswith(_UNUSED)
    ]
