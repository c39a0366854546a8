"""Closing, reopening and discarding of pools."""

from datetime import datetime

from django.db import transaction

from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from assessment.assignments.services.assigning import end_reviews
from assessment.models import Judgment, Pool, PoolInstance, PoolItem


def close_pool(*, pool: Pool, by: User | None, at: datetime) -> None:
    """Close a pool for judgments, or raise `UserError` if it is already closed."""
    _set_closed(pool, verb="pool.close", by=by, closed_at=at)


def open_pool(*, pool: Pool, by: User | None) -> None:
    """Open a pool for judgments again, or raise `UserError` if it is already open."""
    _set_closed(pool, verb="pool.open", by=by, closed_at=None)


@transaction.atomic
def discard_pool(*, pool: Pool, by: User | None) -> None:
    """Delete a pool without judgments. Raise `UserError` if it has judgments or a supplement."""
    # Lock the task: a supplement that is being frozen must see that this pool is gone.
    Task.objects.select_for_update().get(pk=pool.task_id)
    later = Pool.official.filter(task=pool.task_id, number__gt=pool.number)
    if later.exists():
        raise UserError(
            "This pool has a supplement. Unfreeze the supplement first.", code="has-supplement"
        )
    # A submitted label locks its item: either we see the label, or the submit finds no item.
    list(PoolItem.official.select_for_update().filter(pool=pool).order_by("pk").values_list("pk"))
    if Judgment.official.filter(instance__item__pool=pool).exists():
        raise UserError(
            "This pool has judgments, so it cannot be unfrozen. Close it to stop judging.",
            code="pool-judged",
        )
    record_event("pool.discard", pool, by, items=pool.items.count(), **pool_facts(pool))
    PoolInstance.official.filter(item__pool=pool).delete()
    pool.delete()


def _set_closed(pool: Pool, *, verb: str, by: User | None, closed_at: datetime | None) -> None:
    with transaction.atomic():
        before = Pool.objects.filter(pk=pool.pk, closed_at__isnull=closed_at is not None)
        if not before.update(closed_at=closed_at):
            state = "closed" if closed_at else "open"
            raise UserError(f"The pool is already {state}.", code=f"pool-{state}")
        if closed_at is None:
            end_reviews(pool.items.all())
        record_event(verb, pool, by, **pool_facts(pool))


def pool_facts(pool: Pool) -> dict[str, object]:
    """Return the facts of a pool that every audit event about it records."""
    return {"number": pool.number, "sha256": pool.sha256}
