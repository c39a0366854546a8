"""Which assessor has which item on the page. A lease is one conditional UPDATE; its token proves later that it was given."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from django.core.signing import BadSignature, Signer

from assessment.errors import JudgingError
from assessment.models import PoolInstance, PoolItem
from assessment.selectors import Shown, free_for, shown_instances, waiting_items

LEASE = timedelta(minutes=30)
_signer = Signer(salt="assessment.lease")


class Lease(NamedTuple):
    """An item is an assessor's until a moment; the token says so, and cannot be made elsewhere."""

    token: str
    until: datetime


class Taken(NamedTuple):
    """An item that was leased, its instances with their posts and current judgments, and the lease."""

    item: PoolItem
    instances: tuple[Shown, ...]
    lease: Lease


def give_lease(*, item_id: int, user_id: int, at: datetime) -> Lease:
    """Give the token of a lease that begins now; the item itself is leased by `take_next` and its like."""
    until = at + LEASE
    return Lease(_signer.sign(f"{item_id}.{user_id}.{int(until.timestamp())}"), until)


def is_genuine(token: str, *, item_id: int, user_id: int) -> bool:
    """Say whether a token was given to this person for this item, at any time."""
    try:
        said = _signer.unsign(token)
    except BadSignature:
        return False
    return said.startswith(f"{item_id}.{user_id}.")


def take_next(*, topic_id: int, user_id: int, have: Collection[int], at: datetime) -> Taken | None:
    """Lease the next item of a topic that the page does not have; None when none is left. Those put off come last.

    One query reads the item with all that is shown of it, one leases it; of two assessors who reach for one item at the
    same time, one goes on to the next.
    """
    waiting = waiting_items(topic_id, user_id, at=at, have=have)
    for order in (
        waiting.filter(later_at=None).order_by("pool_id", "position"),
        waiting.filter(later_at__isnull=False).order_by("later_at", "pool_id", "position"),
    ):
        while instances := shown_instances(order[:1]):
            if claim(item_id=instances[0].instance.item_id, user_id=user_id, at=at):
                return _taken(instances, user_id=user_id, at=at)
    return None


def take_item(*, item_id: int, topic_id: int, user_id: int, at: datetime) -> Taken | None:
    """Give an item that the assessor judged, or lease one that waits; None for what is not theirs to see.

    Raises `JudgingError` when another assessor has it.
    """
    instances = shown_instances(PoolItem.objects.filter(pk=item_id, topic=topic_id))
    found = _taken(instances, user_id=user_id, at=at) if instances else None
    if found is None or not found.instances:
        return None
    if found.item.done_at is None and not claim(item_id=item_id, user_id=user_id, at=at):
        raise JudgingError(ELSEWHERE, code="leased-elsewhere")
    return found


def claim(*, item_id: int, user_id: int, at: datetime) -> bool:
    """Lease an item that waits and that nobody else has; say whether it was still so."""
    waiting = PoolItem.objects.filter(free_for(user_id, at=at), pk=item_id, done_at=None)
    return bool(waiting.update(leased_to=user_id, leased_until=at + LEASE))


def _taken(instances: tuple[Shown, ...], *, user_id: int, at: datetime) -> Taken:
    """Give an item with its instances to who leased it; what others judged of it is not theirs to see."""
    own = tuple(one for one in instances if one.current is None or one.current.assessor_id == user_id)
    return Taken(
        instances[0].instance.item, own, give_lease(item_id=instances[0].instance.item_id, user_id=user_id, at=at)
    )


def renew_lease(*, item_id: int, user_id: int, at: datetime) -> Lease:
    """Lease an item for longer; raises `JudgingError` when another assessor has it or has judged it meanwhile.

    Who holds the token of an item that is done by themself may change labels without a lease.
    """
    others = PoolInstance.objects.filter(item=item_id, judgments__is_current=True).exclude(judgments__assessor=user_id)
    if not claim(item_id=item_id, user_id=user_id, at=at):
        is_own = PoolItem.objects.filter(pk=item_id, done_at__isnull=False).exists() and not others.exists()
        if not is_own:
            raise JudgingError(ELSEWHERE, code="leased-elsewhere")
    return give_lease(item_id=item_id, user_id=user_id, at=at)


def put_off(*, item_id: int, user_id: int, at: datetime) -> None:
    """Have an item that waits come after all others, and give its lease back; nothing happens to one that is another's."""
    waiting = PoolItem.objects.filter(free_for(user_id, at=at), pk=item_id, done_at=None)
    waiting.update(later_at=at, leased_to=None, leased_until=None)


ELSEWHERE = (
    "Another assessor has this item now, since it was not judged here in time. What you typed stays on this page; "
    "go on with the next item."
)
