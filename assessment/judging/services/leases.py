"""Leases of items, for the page and for offline trips. A signed token proves a lease."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, When
from django.templatetags.static import static

from arqlab.core.models import User
from assessment.assignments.selectors.leases import LEASE, free_items, long_leases
from assessment.errors import JudgingError
from assessment.judging.selectors.items import ShownItem, Stack, TopicPath, lock_next, shown_item
from assessment.judging.selectors.progress import open_items
from assessment.models import Assignment, Judgment, PoolItem

# Of a trip: what an assessor has with them, nobody else can judge.
MAX_ITEMS = 50
MAX_HOURS = 7 * 24
DEFAULT_HOURS = 24
LEASED_ELSEWHERE = (
    "Another assessor has this item now. If you submit your label, it is kept but does not count; "
    "otherwise continue with the next item."
)
TRIP_HOURS = {6: "6 hours", 24: "24 hours", 72: "3 days", 168: "7 days"}


class Trip(NamedTuple):
    """The items of a trip in their order, and the end of their leases."""

    items: tuple[int, ...]
    until: datetime | None


@transaction.atomic
def prepare_trip(*, topic_id: int, user: User, hours: int, at: datetime) -> Trip:
    """Lease the first items of a topic for some hours, in four queries; an earlier trip ends."""
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
    assignments = Assignment.objects.filter(topic=topic_id, assessor=user, ended_at=None)
    assignments.update(trip_until=until)
    return Trip(items, until if items else None)


def trip_of(*, topic_id: int, user: User, at: datetime) -> Trip:
    """Return the waiting items of a topic leased to the user, and the end of the last lease."""
    leased = PoolItem.official.filter(topic=topic_id, leased_to=user, leased_until__gt=at)
    waiting = leased.filter(done_at=None).order_by("pool_id", "position")
    rows = list(waiting.values_list("pk", "leased_until"))
    until = max((until for _, until in rows if until), default=None)
    return Trip(tuple(pk for pk, _ in rows), until)


@transaction.atomic
def end_trip(*, topic_id: int, user: User, have: list[int], at: datetime) -> int:
    """Return the items of a trip to their topic, except those the page has; return their number."""
    leased = long_leases(at).filter(topic=topic_id, leased_to=user)
    leased.filter(pk__in=have).update(leased_until=at + LEASE)
    return leased.exclude(pk__in=have).update(leased_to=None, leased_until=None)


def page_files() -> list[str]:
    """Return the addresses of the static files that judging and thread pages may load."""
    root = settings.STATICFILES_DIRS[0]
    kinds = {".css", ".js", ".svg", ".woff2"}
    names = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.suffix in kinds)
    charts = ("js/charts", "js/draw-", "vendor/echarts/")  # which they do not have
    return [static(name) for name in sorted(names) if not name.startswith(charts)]


class Seat(NamedTuple):
    """An assessor and the topic they judge."""

    user: User
    path: TopicPath


class Lease(NamedTuple):
    """The end of a lease, and the signed token that proves it."""

    lease: str
    until: datetime


class Taken(NamedTuple):
    """An item that an assessor has, and its lease."""

    shown: ShownItem
    lease: Lease


def lease_begin(token: str, *, item_id: int, seat: Seat) -> datetime | None:
    """Return when a token was issued to this user for this item, even if it ended, or None."""
    try:
        item, _, until = _signer(seat).unsign(token).partition(".")
    except BadSignature:
        return None
    return datetime.fromtimestamp(float(until), UTC) - LEASE if item == str(item_id) else None


@transaction.atomic
def take_next(*, stack: Stack, seat: Seat, have: Collection[int], at: datetime) -> Taken | None:
    """Lease the next item that the page does not have, or return None. Skipped items come last."""
    next_item = lock_next(stack, user_id=seat.user.pk, have=have, at=at)
    if next_item is None:
        return None
    _lease(next_item.item.pk, seat, at)
    return taken(next_item, seat, at)


def take_item(*, item_id: int, stack: Stack, seat: Seat, at: datetime) -> Taken | None:
    """Return an own judged item, or lease an open one that is free, or raise; None if unknown."""
    item = shown_item(item_id, stack=stack, user_id=seat.user.pk)
    if item is None:
        return None
    if not item.is_done and not open_items(stack, seat.user.pk).filter(pk=item_id).exists():
        raise JudgingError(
            "The pool of this item is closed, so it cannot be judged. Ask the organizers to open "
            "it, or continue with the next item.",
            code="pool-closed",
        )
    if not item.is_done and not _lease(item_id, seat, at):
        raise JudgingError(LEASED_ELSEWHERE, code="leased-elsewhere")
    return taken(item, seat, at)


def renew_lease(*, item_id: int, seat: Seat, at: datetime) -> Lease:
    """Extend a lease. Raises `JudgingError` if another assessor has or has judged the item."""
    judgments = Judgment.objects.filter(instance__item=item_id, assessor=seat.user, is_current=True)
    # Assessors change labels of their own judged items without a lease, because nobody else can
    # lease them.
    is_theirs = judgments.filter(instance__item__done_at__isnull=False)
    if not _lease(item_id, seat, at) and not is_theirs.exists():
        raise JudgingError(LEASED_ELSEWHERE, code="leased-elsewhere")
    return signed_lease(item_id, seat, at)


def skip_item(*, item_id: int, seat: Seat, at: datetime) -> None:
    """Move an item to the end of its topic, with its time, unless another assessor has it."""
    since = kept_begin(seat.user, at)
    fields = {"leased_to": seat.user, "leased_since": since, "leased_until": None}
    _free(item_id, seat, at).update(later_at=at, **fields)


def taken(item: ShownItem, seat: Seat, at: datetime) -> Taken:
    """Return an item with a lease that starts at a moment; the caller has leased the item."""
    return Taken(item, signed_lease(item.item.pk, seat, at))


def signed_lease(item_id: int, seat: Seat, at: datetime) -> Lease:
    """Return the token of a lease that starts at a moment."""
    until = at + LEASE
    return Lease(_signer(seat).sign(f"{item_id}.{until.timestamp()}"), until)


def _signer(seat: Seat) -> Signer:
    # Leases of the official round were signed before other rounds existed.
    path = seat.path if seat.path.round else seat.path[:-1]
    return Signer(salt="\n".join(("assessment.lease", str(seat.user.pk), *path)))


def _lease(item_id: int, seat: Seat, at: datetime) -> bool:
    """Lease an item, unless another assessor has it. A longer lease of the user stays."""
    is_longer = When(leased_to=seat.user, leased_until__gt=at + LEASE, then=F("leased_until"))
    until = Case(is_longer, default=at + LEASE)
    since = kept_begin(seat.user, at)
    fields = {"leased_to": seat.user, "leased_since": since, "leased_until": until}
    return bool(_free(item_id, seat, at).update(**fields))


def kept_begin(user: User, at: datetime) -> Case:
    """Return when a lease begins, as in `FINISH_AND_LEASE`: a held or skipped one is kept."""
    is_theirs = Q(leased_until__gt=at) | Q(leased_until=None)
    is_kept = Q(is_theirs, leased_to=user, leased_since__isnull=False)
    return Case(When(is_kept, then=F("leased_since")), default=at)


def _free(item_id: int, seat: Seat, at: datetime) -> QuerySet[PoolItem]:
    """Return an item if it is not completed and no other assessor has it."""
    return PoolItem.objects.filter(unleased(seat.user, at), pk=item_id, done_at=None)


def unleased(user: User, at: datetime) -> Q:
    """Return the condition that no other assessor has an item."""
    return free_items(at) | Q(leased_to=user)
