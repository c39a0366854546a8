"""Freezing of pools and supplements.

A frozen pool never changes; later items go into supplements.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256

import polars as pl
from django.db import transaction
from django.db.models import Max

from arqkit.pooling.pools import invalid_settings, make_pool, write_pool
from arqkit.records import LONGEST_ID, TaskKind
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Task, Topic, User
from arqlab.core.services.storing import insert_rows
from arqlab.labs.selectors import topic_ids
from assessment.assignments.services.assigning import end_reviews
from assessment.models import Pool, PoolInstance, PoolItem
from assessment.pools.selectors.choices import (
    POOL_KINDS,
    PoolChoice,
    candidate_runs,
    pooled_together,
)
from assessment.pools.selectors.frozen import pooled_runs, preset_of
from assessment.pools.selectors.sources import (
    TaskSources,
    generated_answers,
    inputs_of,
    kernel_sources,
    task_sources,
)
from assessment.pools.services.changing import pool_facts
from assessment.qrels.selectors.drafts import task_scale
from submissions.services.left_out import left_out_runs


@dataclass(frozen=True)
class ComputedPool:
    """A pool before it is frozen: its rows (`arqkit.pooling.pools.make_pool`), hash and sources.

    `texts` has the answers of Task 3 by topic and item; `inputs` is for `Pool.inputs`.
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
    def crowded_items(self) -> int:
        """Return the number of items with more pooled instances than are judged."""
        most = self.sources.choice.protocol.instances
        crowded = self.labels.filter(pl.col("candidates") > most)
        return crowded.select("topic", "item").n_unique()

    @property
    def label_count(self) -> int:
        """Return the number of labels required for the items."""
        return self.labels.height


def compute_pool(*, task: Task, choice: PoolChoice) -> ComputedPool:
    """Return the pool of the task as of now, or the supplement if it already has a pool.

    Raise `UserError` as `require_possible` does, if two runs have different texts for one answer,
    or if an id is too long.
    """
    require_possible(task, choice)
    sources = task_sources(task, choice)
    texts = generated_answers(sources)
    kind = POOL_KINDS[TaskKind(task.kind)]
    kernel = kernel_sources(sources, texts)
    labels = make_pool(kernel, choice.protocol, kind=kind, seed=choice.seed)
    _require_storable(labels)
    digest = sha256(write_pool(labels)).hexdigest()
    return ComputedPool(labels, digest, sources, texts, inputs_of(sources, kernel))


def require_possible(task: Task, choice: PoolChoice) -> None:
    """Raise `UserError` if the task cannot have a pool with these settings.

    Answers of Task 3 are judged in one place: in their own pool, or mixed into Task 1's pool.
    """
    if choice.protocol.method == "none":
        raise UserError(
            "A known-item task has no pool because its one relevant item is known in advance. "
            "Choose other settings.",
            code="no-pool",
        )
    if refused := list(
        invalid_settings(choice.protocol, kind=TaskKind(task.kind), seed=choice.seed)
    ):
        raise UserError(" ".join(refused), code="impossible-pool")
    together = pooled_together(task)
    refused_codes = {"mixed-pool"}
    if choice.protocol.includes_generated_answers:
        refused_codes.add("own-pool")
    if together and together.code in refused_codes:
        raise UserError(together.sentence, code=together.code)


def _require_storable(labels: pl.DataFrame) -> None:
    ids = pl.any_horizontal(pl.col("item", "doc_id", "post_id").str.len_chars() > LONGEST_ID)
    for topic, doc_id in labels.filter(ids).select("topic", "doc_id").head(1).iter_rows():
        raise UserError(
            f"An id in topic {topic} has more than {LONGEST_ID} characters: {doc_id[:60]}… "
            "Withdraw the run with this id.",
            code="long-id",
        )


def freeze_pool(
    *, task: Task, choice: PoolChoice, by: User | None, at: datetime, expected: str = ""
) -> Pool:
    """Freeze the pool of a task. `expected` is the hash of the pool that the organizer saw, if any.

    Raise `UserError` if the task has a pool, if the pool would be empty, or if it differs from the
    expected one.
    """
    if Pool.official.filter(task=task).exists():
        raise UserError(
            f"The task {task} already has a pool. Freeze a supplement, or unfreeze the pool while "
            "it has no judgments.",
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
    """Freeze a supplement: the items of a pool as of now that the task's pools do not have yet.

    Raise `UserError` as `freeze_pool` does, and if there is no pool or no reason.
    """
    if not Pool.official.filter(task=task).exists():
        raise UserError(
            f"The task {task} has no pool yet. Freeze a pool first.", code="no-pool-yet"
        )
    if not reason.strip():
        raise UserError(
            "Enter a reason for the supplement. Its page shows the reason.", code="no-reason"
        )
    return _freeze(task, choice, by=by, at=at, expected=expected, reason=reason.strip())


def _freeze(
    task: Task,
    choice: PoolChoice,
    *,
    by: User | None,
    at: datetime,
    expected: str,
    reason: str = "",
) -> Pool:
    pools = list(Pool.official.filter(task=task).values_list("pk", flat=True))
    computed = compute_pool(task=task, choice=choice)
    _require_expected(computed, expected)
    with transaction.atomic():
        _require_unchanged(task, choice, pools)
        pool = Pool.objects.create(
            task=task,
            number=(Pool.official.filter(task=task).aggregate(newest=Max("number"))["newest"] or 0)
            + 1,
            reason=reason,
            preset=preset_of(task, choice.protocol),
            settings=asdict(choice.protocol),
            # A supplement keeps the pool's scale, even if the task's scale has changed since.
            scale=task_scale(task).rows(),
            seed=choice.seed,
            inputs=computed.inputs,
            runs=pooled_runs(computed.sources),
            left_out=_left_out(task, choice),
            visual_map=computed.sources.visual_map,
            sha256=computed.sha256,
            crowded_items=computed.crowded_items,
            frozen_at=at,
            frozen_by=by,
        )
        _store(pool, computed)
        end_reviews(pool.items.all())
        record_event(
            "pool.supplement" if reason else "pool.freeze",
            pool,
            by,
            items=computed.items,
            labels=computed.label_count,
            reason=reason,
            left_out=pool.left_out,
            **pool_facts(pool),
        )
    return pool


def _left_out(task: Task, choice: PoolChoice) -> dict[str, object]:
    """Return the value of `Pool.left_out`, without what a pool could not contain any more."""
    runs, topics = candidate_runs(task), choice.without_topics
    run_keys = runs.filter(pk__in=list(choice.without_runs)).values_list("pk", flat=True)
    return {
        "runs": left_out_runs(runs, {run: choice.without_runs[run] for run in run_keys}),
        "topics": [
            {"topic": topic, "reason": topics[topic]}
            for topic in topic_ids(task)
            if topic in topics
        ],
    }


def _require_expected(computed: ComputedPool, expected: str) -> None:
    """Raise if there is nothing to judge, or if the pool differs from the preview."""
    if computed.labels.is_empty():
        raise UserError(
            "Nothing to judge: all selected items are already in a pool of this task.",
            code="empty-pool",
        )
    if expected and expected != computed.sha256:
        raise UserError(
            f"The plan has changed since you opened this page: it now has {computed.items:,} "
            "items. Check the figures again, then freeze the pool.",
            code="pool-changed",
        )


def _require_unchanged(task: Task, choice: PoolChoice, pools: list[int]) -> None:
    """Wait until no other pool of the lab is being frozen, and check that this one still can be."""
    # Lock the task: of two pools that are frozen at once, the second must find the first.
    Task.objects.select_for_update().get(pk=task.pk)
    # Lock the lab: answers of Task 3 may go into the pools of one task only.
    Lab.objects.select_for_update().get(pk=task.lab_id)
    if list(Pool.official.filter(task=task).values_list("pk", flat=True)) != pools:
        raise UserError(
            "Someone else has just frozen a pool of this task. Check that pool first.",
            code="pool-changed",
        )
    require_possible(task, choice)


def _store(pool: Pool, computed: ComputedPool) -> None:
    """Insert the items, then their instances with the keys of the items."""
    topics = list(Topic.objects.filter(task=pool.task_id).values_list("query_id", "pk"))
    topic_keys = pl.DataFrame(
        topics, schema={"topic": pl.String, "topic_id": pl.Int64}, orient="row"
    )
    labels = computed.labels.join(topic_keys, on="topic", maintain_order="left")
    items = labels.unique(["topic", "position"], keep="first", maintain_order=True)
    texts = [computed.texts.get(key, "") for key in items.select("topic", "item").iter_rows()]
    columns = ("pool_id", "topic_id", "kind", "item", "position", "text")
    insert_rows(
        PoolItem,
        items.with_columns(pool_id=pl.lit(pool.pk), text=pl.Series(texts, dtype=pl.String)).select(
            columns
        ),
    )
    # Statements insert the rows in order, so the keys are in the order of the items.
    keys = list(pool.items.order_by("pk").values_list("pk", flat=True))
    items = items.select("topic", "position", item_id=pl.Series(keys, dtype=pl.Int64))
    labels = labels.join(items, on=["topic", "position"], maintain_order="left")
    instances = labels.with_columns(position=pl.col("instance") - 1)
    insert_rows(PoolInstance, instances.select("item_id", "doc_id", "position", "post_id"))
