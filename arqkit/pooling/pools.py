"""Pools: the items assessors judge, in judging order (protocol §5).

Sources: 000 §4.4 and §5.4, 001, 003 §3, 004 §4.4 and §5.4.

A pool is the union of the tops of its runs and of the extras that the protocol admits, without
duplicates. All random choices come from the seed and the ids (`chances`), never from the order of
rows or runs: the same inputs and seed give the same pool, byte for byte, in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from arqkit.pooling.depths import Frame, PooledRun, gather, rank_by_rank, reached
from arqkit.pooling.instances import chances, choose_instances
from arqkit.protocols.presets import PoolProtocol
from arqkit.records import ItemKind
from arqkit.topics import topic_order

POOL_COLUMNS = ("topic", "position", "kind", "item", "doc_id", "post_id")


@dataclass(frozen=True)
class PoolSources:
    """The inputs of a pool. All frames but the runs' are optional.

    - visual (formula_id, visual_id): the visual id of each instance.
    - threads (post, thread): for the instance policy `threads`.
    - relevant (topic, post): posts judged relevant in Task 1, under this task's topics.
    - answers (topic, item): answers of the topics' own threads and of their duplicates.
    - written (topic, item): generated answers of Task 3.
    - earlier (topic, item, doc_id): the contents of the task's earlier pools; the rest makes a
      supplement. Its item is null if the instance now shows another formula.
    """

    runs: Sequence[PooledRun]
    visual: Frame | None = None
    threads: pl.DataFrame | None = None
    relevant: pl.DataFrame | None = None
    answers: pl.DataFrame | None = None
    written: pl.DataFrame | None = None
    earlier: pl.DataFrame | None = None


def in_random_order(items: pl.DataFrame, *, seed: int) -> pl.DataFrame:
    """Return the items of each topic (topic, item) in random order by the seed, with `position`.

    Positions start at 1.
    """
    drawn = items.with_columns(chances(items, "topic", "item", seed=seed, purpose="order"))
    ordered = drawn.sort("topic", "chance", "item").drop("chance")
    return ordered.with_columns(
        position=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("topic")
    )


def make_pool(
    sources: PoolSources, protocol: PoolProtocol, *, kind: ItemKind, seed: int
) -> pl.DataFrame:
    """Return the pool: topic, position, kind, item, doc_id, post_id, instance; one row per label.

    Rows are sorted by topic, position and instance. `kind` is the kind of the runs' items as
    assessors see them: posts or visual ids. An instance pooled without a visual id is a formula of
    its own. Instances of an item are counted from 1.
    """
    rows = gather_for(protocol, sources)
    pooled = without_earlier(pooled_rows(rows, protocol, sources), sources.earlier)
    if protocol.visually_distinct:
        candidates = instance_candidates(pooled, rows, sources.threads)
        ranked = choose_instances(
            candidates, policy=protocol.instance_policy, limit=protocol.instances, seed=seed
        ).rename({"position": "instance"})
    else:
        ranked = one_post_each(pooled).with_columns(instance=pl.lit(1, pl.Int32))
    parts = [_as_labels(ranked, kind)]
    for items, item_kind in (
        (sources.answers, ItemKind.POSTS),
        (sources.written, ItemKind.ANSWERS),
    ):
        if items is not None:
            parts.append(_as_labels(without_earlier(_single(items), sources.earlier), item_kind))
    labels = pl.concat(parts).unique(
        ["topic", "item", "instance"], keep="first", maintain_order=True
    )
    places = in_random_order(labels.select("topic", "item").unique(), seed=seed)
    labels = labels.join(places, on=["topic", "item"])
    return in_pool_order(labels.select(*POOL_COLUMNS, "instance"))


def gather_for(protocol: PoolProtocol, sources: PoolSources) -> pl.DataFrame:
    """Return the rows of all runs that a pool by the protocol may need; see `gather`."""
    if protocol.visually_distinct:
        return gather(sources.runs, visual=sources.visual)
    return gather(sources.runs, deepest=_deepest(protocol))


def _deepest(protocol: PoolProtocol) -> int:
    """Return the depth below which no post enters a pool.

    Rank by rank, a single run has `size` items at rank `size`.
    """
    return max(
        protocol.primary,
        protocol.alternate,
        protocol.manual or 0,
        protocol.size,
        protocol.extra_depth or 0,
    )


def pooled_rows(rows: pl.DataFrame, protocol: PoolProtocol, sources: PoolSources) -> pl.DataFrame:
    """Return the rows of `gather` that enter the pool.

    A row enters by the protocol's method, or by its extra depth for relevant posts.
    """
    if protocol.method == "depth":
        pooled = reached(rows, {run.name: protocol.depth_of(run.kind) for run in sources.runs})
    elif protocol.method == "rank-by-rank":
        depths = rank_by_rank(rows, size=protocol.size)
        pooled = (
            rows.join(depths, on="topic").filter(pl.col("needs") <= pl.col("depth")).drop("depth")
        )
    else:
        pooled = rows.clear()
    if sources.relevant is None or protocol.extra_depth is None:
        return pooled
    extra = rows.filter(pl.col("order") <= protocol.extra_depth).join(
        sources.relevant, on=["topic", "post"], how="semi"
    )
    return pl.concat([pooled, extra]).unique()


def instance_candidates(
    pooled: pl.DataFrame, rows: pl.DataFrame, threads: pl.DataFrame | None
) -> pl.DataFrame:
    """Return the pooled instances with the columns that `choose_instances` needs.

    These are topic, item, doc_id, post, runs (that contributed the instance), ranks (in all runs,
    pooled or not) and thread.
    """
    key = ["topic", "doc_id"]
    ranks = (
        rows.join(pooled.select(key).unique(), on=key, how="semi").group_by(key).agg(ranks="order")
    )
    contributed = pooled.group_by("topic", "item", "doc_id").agg(runs=pl.col("run").n_unique())
    known = (
        one_post_each(pooled).join(contributed, on=["topic", "item", "doc_id"]).join(ranks, on=key)
    )
    if threads is None:
        return known.with_columns(thread=pl.lit(None, pl.String))
    return known.join(threads.group_by("post").agg(pl.col("thread").min()), on="post", how="left")


def one_post_each(pooled: pl.DataFrame) -> pl.DataFrame:
    """Return each pooled instance once, with the post that most runs name; ties alphabetically."""
    counted = pooled.group_by("topic", "item", "doc_id", "post").len()
    ordered = counted.sort(pl.col("post").is_null(), "len", "post", descending=[False, True, False])
    return ordered.unique(["topic", "item", "doc_id"], keep="first", maintain_order=True).drop(
        "len"
    )


def without_earlier(rows: pl.DataFrame, earlier: pl.DataFrame | None) -> pl.DataFrame:
    """Return the rows without the items and instances of the task's earlier pools."""
    if earlier is None:
        return rows
    left = rows.join(earlier, on=["topic", "item"], how="anti")
    return left.join(earlier, on=["topic", "doc_id"], how="anti")


def _single(items: pl.DataFrame) -> pl.DataFrame:
    """Return items that are judged as a whole, each as its own only instance."""
    rows = items.select("topic", "item", doc_id="item", post=pl.lit(None, pl.String)).unique()
    return rows.with_columns(instance=pl.lit(1, pl.Int32))


def _as_labels(rows: pl.DataFrame, kind: ItemKind) -> pl.DataFrame:
    is_whole = kind in (ItemKind.POSTS, ItemKind.DOCUMENTS)
    post = pl.col("doc_id" if is_whole else "post")
    return rows.select(
        "topic", "item", "doc_id", "instance", post_id=post.fill_null(""), kind=pl.lit(kind.value)
    )


def in_pool_order(pool: pl.DataFrame) -> pl.DataFrame:
    """Sort a pool by topic (A.9 before A.10), position and instance, as in its file."""
    return pool.sort(
        pl.col("topic").cast(topic_order(pool["topic"].unique())), "position", "instance"
    )


def write_pool(pool: pl.DataFrame) -> bytes:
    """Return a pool as TSV with a header and one line for each label; its SHA-256 is its hash.

    The rows of `pool` (see `make_pool`) may be in any order; the file is in pool order.
    """
    return (
        in_pool_order(pool)
        .select(POOL_COLUMNS)
        .write_csv(separator="\t", quote_style="never")
        .encode()
    )
