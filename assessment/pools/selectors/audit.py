"""The pool audit: what some runs, usually baselines, rank high and nobody pools or judges."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypedDict

import polars as pl

from arqkit.pooling.pools import gather, without_earlier
from arqkit.records import ItemKind
from arqkit.topics import topic_order
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Task
from assessment.models import QrelSet
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.selectors.sources import (
    TaskSources,
    kernel_sources,
    pooled_before,
    sources_state,
    task_map,
)
from assessment.qrels.selectors.counts import judging_version
from assessment.qrels.selectors.drafts import host_of, task_scale
from assessment.qrels.selectors.frames import judgment_frame, official_judgments
from assessment.qrels.selectors.versions import judged_frame, qrels_named
from collection.selectors.collections import collection_of
from submissions.models import Run

AUDITED_DEPTH = 10
READING = 5e-6
"""Seconds to read a label."""
NOT_POOLED, NOT_JUDGED = "not pooled", "not judged"
_ITEM = ["topic", "item"]
_KNOWN = {"topic": pl.String, "item": pl.String, "doc_id": pl.String}


class MissedItem(TypedDict):
    """An item that nobody pools or judges; doc_id, post and rank are of the best instance.

    `runs` has the keys of the runs that rank it.
    """

    topic: str
    item: str
    doc_id: str
    post: int | None
    rank: int
    state: str
    runs: list[str]


class StateCounts(TypedDict, total=False):
    """The numbers of items of a run (key) or a topic."""

    run: str
    topic: str
    items: int
    not_pooled: int
    not_judged: int


@dataclass(frozen=True)
class PoolAudit:
    """The tops of runs: run (its key), topic, item, doc_id, post, rank and state.

    The state is `NOT_POOLED` for an item that is in no pool and has no label, `NOT_JUDGED` for one
    that is pooled and has none although others have, and null for all others.
    """

    rows: pl.DataFrame

    @cached_property
    def items(self) -> pl.DataFrame:
        """Return the items that nobody pools or judges, with the runs that rank them, best first.

        The rows are `MissedItem`.
        """
        ranked = self.rows.drop_nulls("state").sort("rank", "run", "doc_id")
        names = ["doc_id", "post", "rank", "state"]
        missed = ranked.group_by(_ITEM, maintain_order=True).agg(pl.col(names).first(), runs="run")
        most = pl.col("runs").list.len()
        return missed.sort("rank", most, "item", descending=[False, True, False])

    def count(self, state: str) -> int:
        """Return the number of items in a state."""
        return self.items.filter(pl.col("state") == state).height

    def totals(self, by: str) -> pl.DataFrame:
        """Return the counts by run or topic, topics in order: the rows are `StateCounts`."""
        rows = self.rows.unique(list(dict.fromkeys([by, *_ITEM])))
        counts = rows.group_by(by).agg(
            items=pl.len(),
            not_pooled=(pl.col("state") == NOT_POOLED).sum(),
            not_judged=(pl.col("state") == NOT_JUDGED).sum(),
        )
        return counts.sort(pl.col(by).cast(topic_order(counts[by])))


def audit_pool(
    task: Task,
    choice: PoolChoice,
    runs: Sequence[Run],
    *,
    depth: int = AUDITED_DEPTH,
    planned: pl.DataFrame | None = None,
) -> PoolAudit:
    """Return the audit of the tops of runs, with depths that count as those of the pool do.

    Items are looked for in the pools of the task, in the `planned` labels of another one
    (`ComputedPool.labels`), in the judgments and in the current qrels. Topics that `choice` leaves
    out are not audited.
    """
    host = host_of(task)
    plain = replace(choice.protocol, extra_threads=False, extra_depth=None)
    audited = replace(choice, protocol=replace(plain, includes_generated_answers=False))
    sources = TaskSources(task, audited, collection_of(task.lab), tuple(runs), task_map(task))
    version, labels = judging_version(host or task)
    qrels = qrels_named(task)
    key = key_of(
        "pool-audit",
        sources_state(sources),
        choice,
        depth,
        version,
        qrels and qrels.sha256,
        planned if planned is None else planned.hash_rows().to_numpy().tobytes(),
    )

    def compute() -> pl.DataFrame:
        return _audited(sources, host, planned, depth=depth, qrels=qrels)

    return PoolAudit(cached_value(key, compute, work=READING * labels))


def _audited(
    sources: TaskSources,
    host: Task | None,
    planned: pl.DataFrame | None,
    *,
    depth: int,
    qrels: QrelSet | None,
) -> pl.DataFrame:
    task, protocol = sources.task, sources.choice.protocol
    kernel = kernel_sources(sources, {})
    visual = kernel.visual if protocol.visually_distinct else None
    rows = gather(kernel.runs, visual=visual, deepest=depth)
    earlier = pooled_before(host, newest=None) if host else kernel.earlier
    frozen = pl.DataFrame(schema=_KNOWN) if earlier is None else earlier.select(*_KNOWN)
    pooled = frozen if planned is None else pl.concat([frozen, planned.select(*_KNOWN)])
    judged = _judged(task, host or task, frozen, qrels)
    is_pooled, is_judged = _holds(rows, pooled), _holds(rows, judged)
    # Before the first label, every pooled item waits for one.
    waits = pl.lit(None if judged.is_empty() else NOT_JUDGED, pl.String)
    lacks = pl.when(is_pooled).then(waits).otherwise(pl.lit(NOT_POOLED))
    marked = rows.with_columns(state=pl.when(~is_judged).then(lacks)).sort("needs", "doc_id")
    return marked.group_by("run", *_ITEM).agg(
        pl.col("doc_id", "post", "state").first(), rank=pl.col("needs").first()
    )


def _holds(rows: pl.DataFrame, others: pl.DataFrame) -> pl.Series:
    """Return whether the item of each row, or one of its instances there, is among known ones."""
    among = rows.join(without_earlier(rows, others), on=[*_ITEM, "doc_id"], how="anti")
    items = among.select(_ITEM).unique().with_columns(is_known=pl.lit(value=True))
    joined = rows.join(items, on=_ITEM, how="left", maintain_order="left")
    return joined["is_known"].fill_null(value=False)


def _judged(task: Task, host: Task, frozen: pl.DataFrame, qrels: QrelSet | None) -> pl.DataFrame:
    """Return the judged items and instances, of the pools and of the current qrels."""
    labels = judgment_frame(official_judgments(host), "topic", "doc_id", "label")
    labels = task_scale(task).only_judged(labels).drop_nulls("label")
    judged = frozen.join(labels, on=["topic", "doc_id"], how="semi")
    if qrels is None:
        return judged
    named = judged_frame(qrels).drop_nulls("label").select("topic", id="item")
    is_visual, none = qrels.items == ItemKind.VISUAL_IDS, pl.lit(None, pl.String)
    item, doc_id = (pl.col("id"), none) if is_visual else (none, pl.col("id"))
    return pl.concat([judged, named.select("topic", item=item, doc_id=doc_id)])
