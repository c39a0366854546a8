"""Queries on frozen pools: preset, runs, size and progress."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import polars as pl

from arqkit.pooling.pools import gather_for, pooled_rows, write_pool
from arqkit.protocols.presets import PROTOCOLS, PoolProtocol
from arqkit.records import TaskKind
from arqlab.core.errors import UserError
from arqlab.core.models import Task
from assessment.models import Judgment, Pool, PoolInstance
from assessment.pools.selectors.choices import WRITTEN, PoolChoice, choice_of, valid_runs
from assessment.pools.selectors.sources import TaskSources, kernel_sources, task_map
from assessment.qrels.selectors.counts import Size, TopicTally, added, topic_tallies
from collection.selectors.collections import collection_of
from submissions.models import Run

CONTRIBUTIONS = {"topic": pl.String, "doc_id": pl.String, "run": pl.String, "needs": pl.Int64}


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
    runs_by_key = Run.objects.select_related("team").in_bulk(keys)
    tops = []
    for pool in pools:
        runs = [
            runs_by_key[r["run"]]
            for r in pool.runs
            if r["kind"] != WRITTEN and r["run"] in runs_by_key
        ]
        tops.append(PooledTops(pool, choice_of(pool), tuple(runs)))
    if not keys:
        choice = PoolChoice(task.protocol.pool, seed=0)
        systems = [run for run in valid_runs(task) if not run.is_control]
        return [PooledTops(None, choice, tuple(systems))]
    return tops


def contributions_of(task: Task, tops: Sequence[PooledTops]) -> pl.DataFrame:
    """Return the contributions of the runs: topic, doc_id, run (its key) and needs (the depth)."""
    collection = collection_of(task.lab)
    frames = [pl.DataFrame(schema=CONTRIBUTIONS)]
    for top in tops:
        visual_map = top.pool.visual_map if top.pool else task_map(task)
        sources = TaskSources(task, top.choice, collection, top.runs, visual_map)
        kernel, protocol = kernel_sources(sources, {}), top.choice.protocol
        rows = pooled_rows(gather_for(protocol, kernel), protocol, kernel)
        frames.append(rows.select(pl.col(name).cast(kind) for name, kind in CONTRIBUTIONS.items()))
    return pl.concat(frames).group_by("topic", "doc_id", "run").agg(pl.col("needs").min())


def presets_for(task: Task) -> dict[str, PoolProtocol]:
    """Return the pool settings of the presets for this kind of task, by slug.

    Presets for known-item tasks have no pool and are left out.
    """
    kind = TaskKind(task.kind)
    pools = {
        slug: preset.tasks[kind].pool for slug, preset in PROTOCOLS.items() if kind in preset.tasks
    }
    return {slug: pool for slug, pool in pools.items() if pool.method != "none"}


def preset_of(task: Task, protocol: PoolProtocol) -> str:
    """Return the slug of the preset with these settings, preferably the lab's own, or ""."""
    presets = presets_for(task)
    slugs = sorted(presets, key=lambda slug: slug != task.lab.protocol)
    return next((slug for slug in slugs if presets[slug] == protocol), "")


class TopicSize(NamedTuple):
    """The size of a topic in a pool: its items, the labels that they need, and the done items.

    `judged` are the current labels by value.
    """

    query_id: str
    items: int
    labels: int
    done: int = 0
    judged: Mapping[int, int] = {}


def pool_sizes(pools: Sequence[Pool]) -> dict[int, Size]:
    """Return the sizes of frozen pools, by key."""
    sizes: dict[int, list[Size]] = {pool.pk: [] for pool in pools}
    for tally in topic_tallies(*{pool.task for pool in pools}).values():
        for (pool, _), size in tally.sizes.items():
            sizes.setdefault(pool, []).append(size)
    return {pool: added(parts) for pool, parts in sizes.items()}


def topic_sizes(pool: Pool) -> list[TopicSize]:
    """Return the sizes of all topics of the task in a pool, in topic order."""
    tallies = topic_tallies(pool.task)
    sizes = []
    for topic, query_id in pool.task.topics.order_by("position").values_list("pk", "query_id"):
        tally = tallies.get(topic, TopicTally())
        size = added(size for (place, _), size in tally.sizes.items() if place == pool.pk)
        judged = {label: n for (place, label), n in tally.labels.items() if place == pool.pk}
        sizes.append(TopicSize(query_id, size.items, size.labels, size.done, judged))
    return sizes


def pool_file(pool: Pool) -> bytes:
    """Return the file of a frozen pool, whose hash is `Pool.sha256`."""
    rows = PoolInstance.official.filter(item__pool=pool).order_by()
    fields = {
        "topic": "item__topic__query_id",
        "position": "item__position",
        "kind": "item__kind",
        "item": "item__item",
        "doc_id": "doc_id",
        "post_id": "post_id",
        "instance": "position",
    }
    schema = dict.fromkeys(fields, pl.String) | {"position": pl.Int64, "instance": pl.Int64}
    frame = pl.DataFrame(list(rows.values_list(*fields.values())), schema=schema, orient="row")
    return write_pool(frame)


def pool_numbered(task: Task, number: int = 1) -> Pool:
    """Return a pool of a task by its number, or raise `UserError` with a list of the pools."""
    pool = Pool.official.filter(task=task, number=number).select_related("task__lab").first()
    if pool is None:
        numbers = (
            ", ".join(map(str, Pool.official.filter(task=task).values_list("number", flat=True)))
            or "none yet; create one with build_pool"
        )
        raise UserError(
            f"The task {task} has no pool {number}. Its pools: {numbers}.", code="unknown-pool"
        )
    return pool


def can_be_discarded(pool: Pool) -> bool:
    """Return whether a pool can be deleted: it has no judgments and no supplement."""
    later = Pool.official.filter(task=pool.task_id, number__gt=pool.number)
    return not later.exists() and not Judgment.official.filter(instance__item__pool=pool).exists()


def pooled_runs(sources: TaskSources) -> list[dict[str, object]]:
    """Return the value of `Pool.runs`: kind, depth, name and index hash of each pooled run."""
    choice = sources.choice
    rows = [
        {"kind": choice.kind_of(run), "depth": choice.depth_of(run), **_named(run)}
        for run in sources.runs
    ]
    return rows + [{"kind": WRITTEN, "depth": None, **_named(run)} for run in sources.written]


def _named(run: Run) -> dict[str, object]:
    with run.index.open("rb") as file:
        digest = sha256(file.read()).hexdigest()
    return {"run": run.pk, "team": run.team.name, "tag": run.tag, "sha256": digest}
