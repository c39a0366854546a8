"""Pools as they are frozen: computed from the runs as they stand, stored, and never changed. What
comes later is a supplement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

import polars as pl
from django.db import transaction
from django.db.models import Max

from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Task, Topic, User
from arqlab.core.services.audit import record_event
from arqlab.core.services.storing import insert_rows
from arqlab.ir.pooling.pools import make_pool, write_pool
from arqlab.ir.pooling.settings import invalid_settings
from arqlab.ir.records import LONGEST_ID, TaskKind
from assessment.assignments.services import end_reviews
from assessment.models import Judgment, Pool, PoolInstance, PoolItem
from assessment.pools.selectors.frozen import pooled_runs, preset_of
from assessment.pools.selectors.sources import (
    POOL_KINDS,
    PoolChoice,
    TaskSources,
    inputs_of,
    kernel_sources,
    task_sources,
    written_answers,
)
from assessment.qrels.selectors.drafts import host_of, own_pools_task


@dataclass(frozen=True)
class ComputedPool:
    """A pool before it is frozen: its labels (`arqlab.ir.pooling.pools.make_pool`), its hash, and
    what it was made of.

    `texts` has the written answers by topic and item, `inputs` is for `Pool.inputs`.
    """

    labels: pl.DataFrame
    sha256: str
    sources: TaskSources
    texts: Mapping[tuple[str, str], str]
    inputs: Mapping[str, str]

    @property
    def items(self) -> int:
        """Return the number of items."""
        return self.labels.select("topic", "item").n_unique()

    @property
    def label_count(self) -> int:
        """Return the number of labels that they ask for."""
        return self.labels.height


def compute_pool(*, task: Task, choice: PoolChoice) -> ComputedPool:
    """Compute what a pool of the task would be now; where it has pools, what a supplement to them
    would be.

    Raises `UserError` as `require_possible` does, and where two runs bring one written answer with
    different texts, or a run an id that is too long.
    """
    require_possible(task, choice)
    sources = task_sources(task, choice)
    texts = written_answers(sources)
    kind = POOL_KINDS[TaskKind(task.kind)]
    kernel = kernel_sources(sources, texts)
    labels = make_pool(kernel, choice.protocol, kind=kind, seed=choice.seed)
    _require_storable(labels)
    digest = sha256(write_pool(labels)).hexdigest()
    return ComputedPool(labels, digest, sources, texts, inputs_of(sources, kernel))


def require_possible(task: Task, choice: PoolChoice) -> None:
    """Raise `UserError` where a pool of the task cannot be made so.

    A written answer is judged in one place: in the pool of Task 3, or mixed into that of Task 1.
    """
    if choice.protocol.method == "none":
        raise UserError(
            "This protocol has no pool: its one relevant item is known beforehand. Choose other settings.",
            code="no-pool",
        )
    if refused := list(
        invalid_settings(choice.protocol, kind=TaskKind(task.kind), seed=choice.seed)
    ):
        raise UserError(" ".join(refused), code="impossible-pool")
    if choice.protocol.holds_written_answers and (own := own_pools_task(task)):
        raise UserError(
            f"The written answers of {own.name} are judged in a pool of that task. Do not mix them into this one, or "
            "discard that pool while it has no judgment.",
            code="own-pool",
        )
    if host := host_of(task):
        raise UserError(
            f"The written answers are judged in the pool of {host.name}. Make a supplement to that pool for those that "
            "came late.",
            code="mixed-pool",
        )


def _require_storable(labels: pl.DataFrame) -> None:
    ids = pl.any_horizontal(pl.col("item", "doc_id", "post_id").str.len_chars() > LONGEST_ID)
    for topic, doc_id in labels.filter(ids).select("topic", "doc_id").head(1).iter_rows():
        raise UserError(
            f"An id of topic {topic} has more than {LONGEST_ID} characters: {doc_id[:60]}… Withdraw the run that names it.",
            code="long-id",
        )


def freeze_pool(
    *, task: Task, choice: PoolChoice, by: User | None, at: datetime, expected: str = ""
) -> Pool:
    """Freeze the pool of a task. `expected` is the hash of what the organizer saw, if it was shown
    before.

    Raises `UserError` when the task has a pool, the pool would be empty, or it would be another one
    than was shown.
    """
    if task.pools.exists():
        raise UserError(
            f"The task {task} has a pool, which never changes. Make a supplement to it, or discard it while it has no "
            "judgment.",
            code="has-pool",
        )
    return _freeze(task, choice, by=by, at=at, expected=expected)


def supplement_pool(
    *,
    task: Task,
    choice: PoolChoice,
    reason: str,
    by: User | None,
    at: datetime,
    expected: str = "",
) -> Pool:
    """Freeze what the task's pools do not hold of what a pool of today would hold, and say why.

    Raises `UserError` as `freeze_pool` does, and when there is no pool or no reason.
    """
    if not task.pools.exists():
        raise UserError(f"The task {task} has no pool yet. Freeze one first.", code="no-pool-yet")
    if not reason.strip():
        raise UserError(
            "Say why the supplement is made: its page shows the reason.", code="no-reason"
        )
    return _freeze(task, choice, by=by, at=at, expected=expected, reason=reason.strip())


def close_pool(*, pool: Pool, by: User | None, at: datetime) -> None:
    """Take no more judgments for a pool. Raises `UserError` when it is closed."""
    _turn(pool, verb="pool.close", by=by, closed_at=at)


def open_pool(*, pool: Pool, by: User | None) -> None:
    """Take judgments for a pool again. Raises `UserError` when it is open."""
    _turn(pool, verb="pool.open", by=by, closed_at=None)


@transaction.atomic
def discard_pool(*, pool: Pool, by: User | None) -> None:
    """Delete a pool that nobody has judged. Raises `UserError` when somebody has, or a supplement
    stands on it.
    """
    Task.objects.select_for_update().get(pk=pool.task_id)
    later = Pool.objects.filter(task=pool.task_id, number__gt=pool.number)
    if later.exists():
        raise UserError(
            "A supplement was made to this pool. Discard the supplement first.",
            code="has-supplement",
        )
    # Who labels an item at this moment has it locked: we see the label then, or they find the item
    # gone.
    list(PoolItem.objects.select_for_update().filter(pool=pool).order_by("pk").values_list("pk"))
    if Judgment.objects.filter(instance__item__pool=pool).exists():
        raise UserError(
            "This pool has judgments, so it stays. Close it if nobody is to judge it any more.",
            code="pool-judged",
        )
    record_event(
        verb="pool.discard",
        target=pool,
        lab=pool.task.lab,
        actor=by,
        items=pool.items.count(),
        **_named(pool),
    )
    PoolInstance.objects.filter(item__pool=pool).delete()
    pool.delete()


def _turn(pool: Pool, *, verb: str, by: User | None, closed_at: datetime | None) -> None:
    with transaction.atomic():
        before = Pool.objects.filter(pk=pool.pk, closed_at__isnull=closed_at is not None)
        if not before.update(closed_at=closed_at):
            state = "closed" if closed_at else "open"
            raise UserError(f"The pool is {state} already.", code=f"pool-{state}")
        if closed_at is None:
            end_reviews(pool.items.all())
        record_event(verb=verb, target=pool, lab=pool.task.lab, actor=by, **_named(pool))


def _named(pool: Pool) -> dict[str, Any]:
    return {"number": pool.number, "sha256": pool.sha256}


def _freeze(
    task: Task,
    choice: PoolChoice,
    *,
    by: User | None,
    at: datetime,
    expected: str,
    reason: str = "",
) -> Pool:
    pools = list(task.pools.values_list("pk", flat=True))
    computed = compute_pool(task=task, choice=choice)
    if computed.labels.is_empty():
        raise UserError(
            "There is nothing to judge: the valid runs bring no item that the task's pools do not hold already.",
            code="empty-pool",
        )
    if expected and expected != computed.sha256:
        raise UserError(
            f"What goes into the pool has changed since you looked: it would hold {computed.items:,} items now. "
            "Look at the numbers again, then freeze it.",
            code="pool-changed",
        )
    with transaction.atomic():
        _require_unchanged(task, choice, pools)
        pool = Pool.objects.create(
            task=task,
            number=(task.pools.aggregate(newest=Max("number"))["newest"] or 0) + 1,
            reason=reason,
            preset=preset_of(task, choice.protocol),
            settings=asdict(choice.protocol),
            seed=choice.seed,
            inputs=computed.inputs,
            runs=pooled_runs(computed.sources),
            visual_map=computed.sources.visual_map,
            sha256=computed.sha256,
            frozen_at=at,
            frozen_by=by,
        )
        _store(pool, computed)
        end_reviews(pool.items.all())
        record_event(
            verb="pool.supplement" if reason else "pool.freeze",
            target=pool,
            lab=task.lab,
            actor=by,
            items=computed.items,
            labels=computed.label_count,
            reason=reason,
            **_named(pool),
        )
    return pool


def _require_unchanged(task: Task, choice: PoolChoice, pools: list[int]) -> None:
    """Wait for who freezes a pool of the lab at this moment, and raise `UserError` where ours
    cannot be made any more.
    """
    Task.objects.select_for_update().get(pk=task.pk)
    Lab.objects.select_for_update().get(
        pk=task.lab_id
    )  # the written answers go into the pools of one task only
    if list(task.pools.values_list("pk", flat=True)) != pools:
        raise UserError(
            "Somebody froze a pool of this task meanwhile. Look at it first.", code="pool-changed"
        )
    require_possible(task, choice)


def _store(pool: Pool, computed: ComputedPool) -> None:
    """Insert the items, then their instances, which name the items by the keys that the database
    gave them.
    """
    topics = list(Topic.objects.filter(task=pool.task_id).values_list("query_id", "pk"))
    known = pl.DataFrame(topics, schema={"topic": pl.String, "topic_id": pl.Int64}, orient="row")
    labels = computed.labels.join(known, on="topic", maintain_order="left")
    items = labels.unique(["topic", "position"], keep="first", maintain_order=True)
    texts = [computed.texts.get(key, "") for key in items.select("topic", "item").iter_rows()]
    columns = ("pool_id", "topic_id", "kind", "item", "position", "text")
    insert_rows(
        PoolItem,
        items.with_columns(pool_id=pl.lit(pool.pk), text=pl.Series(texts, dtype=pl.String)).select(
            columns
        ),
    )
    # Rows of one statement after the other: the keys are in the order of the items.
    keys = list(pool.items.order_by("pk").values_list("pk", flat=True))
    items = items.select("topic", "position", item_id=pl.Series(keys, dtype=pl.Int64))
    labels = labels.join(items, on=["topic", "position"], maintain_order="left")
    instances = labels.with_columns(position=pl.col("instance") - 1)
    insert_rows(PoolInstance, instances.select("item_id", "doc_id", "position", "post_id"))
