"""The items that each run contributed to the pools of a task, for the reusability of its qrels.

A pool stores its items, not which runs they came from. They are computed again from the runs that
the pool names, with the settings with which it was frozen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from arqkit.pooling.pools import gather_for, pooled_rows
from arqlab.core.models import Task
from assessment.models import Pool
from assessment.pools.selectors.choices import WRITTEN, PoolChoice, choice_of, valid_runs
from assessment.pools.selectors.sources import TaskSources, kernel_sources
from collection.selectors.collections import collection_of
from collection.selectors.visual_maps import newest_map
from submissions.models import Run

CONTRIBUTIONS = {
    "topic": pl.String,
    "doc_id": pl.String,
    "run": pl.String,
    "needs": pl.Int64,
}


@dataclass(frozen=True)
class PooledTops:
    """The runs of one pool, with the settings that say how deep each was pooled.

    `pool` is None for a task without pools, whose judgments were imported: the depths are then
    those of the task's protocol, for all valid runs.
    """

    pool: Pool | None
    choice: PoolChoice
    runs: tuple[Run, ...]


def pooled_tops(task: Task) -> list[PooledTops]:
    """Return the runs of each pool of a task, or the valid runs if no pool names a run.

    Runs that were withdrawn after a freeze are included; deleted ones are not.
    """
    pools = list(Pool.official.filter(task=task).select_related("visual_map").order_by("number"))
    keys = {row["run"] for pool in pools for row in pool.runs if row["kind"] != WRITTEN}
    known = Run.objects.select_related("team").in_bulk(keys)
    tops = []
    for pool in pools:
        runs = [known[r["run"]] for r in pool.runs if r["kind"] != WRITTEN and r["run"] in known]
        tops.append(PooledTops(pool, choice_of(pool), tuple(runs)))
    if not keys:
        choice = PoolChoice(task.protocol.pool, seed=0)
        return [PooledTops(None, choice, tuple(valid_runs(task)))]
    return tops


def contributions_of(task: Task, tops: Sequence[PooledTops]) -> pl.DataFrame:
    """Return the contributions of the runs: topic, doc_id, run (its key) and needs (the depth)."""
    collection = collection_of(task.lab)
    found = [pl.DataFrame(schema=CONTRIBUTIONS)]
    for top in tops:
        newest = newest_map(collection) if collection and task.kind == Task.Kind.FORMULAS else None
        shown = top.pool.visual_map if top.pool else newest
        sources = TaskSources(
            task, top.choice, collection, top.runs, left_out=(), written=(), visual_map=shown
        )
        kernel, protocol = kernel_sources(sources, {}), top.choice.protocol
        rows = pooled_rows(gather_for(protocol, kernel), protocol, kernel)
        found.append(rows.select(pl.col(name).cast(kind) for name, kind in CONTRIBUTIONS.items()))
    return pl.concat(found).group_by("topic", "doc_id", "run").agg(pl.col("needs").min())
