"""Pools: which of the runs' items are judged, and in which order (protocol §5; 000 §4.4, §5.4; 001;
003 §3; 004 §4.4, §5.4).

A pool is the union of the tops of its runs, and of what else the protocol lets in, without
duplicates. Everything "at random" comes from the seed and the ids themselves (`chances`), never
from the sequence of rows or runs: the same inputs and seed give the same pool byte for byte,
whichever order they come in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from arqlab.ir.pooling.instances import chances, choose_instances
from arqlab.ir.protocols.presets import PoolProtocol, RunKind
from arqlab.ir.records import ItemKind
from arqlab.ir.topics import topic_order

POOL_COLUMNS = ("topic", "position", "kind", "item", "doc_id", "post_id")
INDEX_SCHEMA = {
    "run": pl.String,
    "topic": pl.String,
    "item": pl.String,
    "post": pl.String,
    "order": pl.Int32,
}


Frame = pl.DataFrame | pl.LazyFrame
"""What may be read as late as possible: indexes and visual maps are large, and of most only a part
is needed.
"""


@dataclass(frozen=True)
class PooledRun:
    """A run that is pooled: its name (no two have the same), team, as what it is pooled, its index.

    The index has topic, item (a post or a formula instance: a visual id names nothing to judge),
    order, and post where it knows posts. A run with wrong posts comes without them (000, footnote
    16).
    """

    name: str
    team: str
    kind: RunKind
    index: Frame


@dataclass(frozen=True)
class PoolSources:
    """What a pool is made of. Every frame but the runs' may be missing.

    `visual` (formula_id, visual_id) says which formula an instance shows. `threads` (post, thread)
    is for the policy threads. `relevant` (topic, post) are the posts judged relevant in Task 1,
    under this task's topics. `answers` (topic, item) are the answers of the topics' own and
    duplicate threads, `written` (topic, item) the written answers of Task 3. `earlier` (topic,
    item, doc_id) is in the task's pools already: what is left makes a supplement. Its item is null
    where an instance shows another formula by now.
    """

    runs: Sequence[PooledRun]
    visual: Frame | None = None
    threads: pl.DataFrame | None = None
    relevant: pl.DataFrame | None = None
    answers: pl.DataFrame | None = None
    written: pl.DataFrame | None = None
    earlier: pl.DataFrame | None = None


def depth_needed(index: pl.DataFrame, *, visual: Frame | None) -> pl.DataFrame:
    """Return for each row of a run at which depth it enters the pool: topic, item, doc_id, post,
    order, needs.

    Without `visual` an item is a post or formula instance, and needs its order. With it
    (formula_id, visual_id) the item is a visually distinct formula: the first instance of the d-th
    needs d; a repeated one after d formulas needs d + 1, since the depth k ends with the first
    instance of the k-th (000 §5.4). An instance without visual id is its own formula. A column run
    may be there too: each run is then a list of its own.
    """
    lists = [name for name in ("run", "topic") if name in index.columns]
    columns = [*lists, "item", "doc_id", "post", "order", "needs"]
    rows = index.select(*lists, pl.col("item").alias("doc_id"), "post", "order")
    if visual is None:
        return rows.with_columns(item="doc_id", needs="order").select(columns)
    # Millions of rows: each string is looked up once, and what is compared, joined and sorted are
    # its numbers.
    rows = rows.with_columns(
        doc=numbered("doc_id"), list=pl.struct(map(numbered, lists)).rank("dense")
    )
    docs = rows.filter(pl.col("doc").is_first_distinct()).select("doc", "doc_id")
    rows = rows.join(_formulas(docs, visual), on="doc", how="left").sort("list", "order")
    rows = rows.with_columns(is_first=pl.col("formula").is_first_distinct().over("list"))
    seen = pl.col("is_first").cum_sum().over("list").cast(pl.Int32)
    return rows.with_columns(needs=seen + (~pl.col("is_first")).cast(pl.Int32)).select(columns)


def numbered(column: str) -> pl.Expr:
    """Number the strings of a column: equal ones have one number, which says nothing else."""
    return pl.col(column).cast(pl.Categorical).to_physical()


def _formulas(docs: pl.DataFrame, visual: Frame) -> pl.DataFrame:
    """Return the formula that each instance (doc, doc_id) shows: doc, item, and formula, its number."""
    wanted = docs.lazy().select(formula_id="doc_id")
    known = (
        visual.lazy().select("formula_id", "visual_id").join(wanted, on="formula_id", how="semi")
    )
    shown = known.group_by("formula_id").agg(pl.col("visual_id").min()).collect()
    items = docs.join(shown, left_on="doc_id", right_on="formula_id", how="left")
    return items.select("doc", item=pl.coalesce("visual_id", "doc_id")).with_columns(
        formula=numbered("item")
    )


def gather(
    runs: Sequence[PooledRun], *, visual: Frame | None = None, deepest: int | None = None
) -> pl.DataFrame:
    """Put the rows of all runs into one frame: run, topic, item, doc_id, post, order, needs (see
    `depth_needed`).

    Rows that need more than `deepest` are left out. Raises ValueError where two runs have one name.
    """
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        raise ValueError(f"Two pooled runs have one name: {sorted(names)}.")
    parts = [_index_rows(run) for run in runs]
    limit = pl.lit(True) if deepest is None else pl.col("order") <= deepest
    # A post needs its order: what is deeper is not even read. Of formulas the whole list must be
    # gone down.
    index = pl.concat([pl.LazyFrame(schema=INDEX_SCHEMA), *parts])
    if visual is None:
        return depth_needed(index.filter(limit).collect(), visual=None)
    rows = depth_needed(index.collect(), visual=visual)
    return rows if deepest is None else rows.filter(pl.col("needs") <= deepest)


def _index_rows(run: PooledRun) -> pl.LazyFrame:
    index = run.index.lazy()
    post = pl.col("post") if "post" in index.collect_schema() else pl.lit(None)
    rows = index.select("topic", "item", "order", run=pl.lit(run.name), post=post)
    return rows.select(pl.col(name).cast(kind) for name, kind in INDEX_SCHEMA.items())


def reached(rows: pl.DataFrame, depths: Mapping[str, int]) -> pl.DataFrame:
    """Keep the rows of `gather` that the depth of their run reaches."""
    limits = pl.DataFrame(
        {"run": list(depths), "depth": list(depths.values())},
        schema={"run": pl.String, "depth": pl.Int32},
    )
    deepest = rows.filter(pl.col("needs") <= max(depths.values(), default=0))
    return deepest.join(limits, on="run").filter(pl.col("needs") <= pl.col("depth")).drop("depth")


def rank_by_rank(rows: pl.DataFrame, *, size: int) -> pl.DataFrame:
    """Return how deep all runs go so that the pool of each topic holds `size` items or more: topic,
    depth.

    One rank at a time over all runs (NTCIR-10, 003 §3); where the runs have fewer items, to their
    ends. Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"Found the pool size {size}; expected 1 or more.")
    first = rows.group_by("topic", "item").agg(pl.col("needs").min(), deepest=pl.col("needs").max())
    nth = pl.col("needs").sort().slice(size - 1, 1).first()
    return first.group_by("topic").agg(depth=pl.coalesce(nth, pl.col("deepest").max()))


def in_random_order(items: pl.DataFrame, *, seed: int) -> pl.DataFrame:
    """Return the items of each topic (topic, item) in an order drawn from the seed, with their
    position from 1.
    """
    drawn = items.with_columns(chances(items, "topic", "item", seed=seed, purpose="order"))
    ordered = drawn.sort("topic", "chance", "item").drop("chance")
    return ordered.with_columns(
        position=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("topic")
    )


def make_pool(
    sources: PoolSources, protocol: PoolProtocol, *, kind: ItemKind, seed: int
) -> pl.DataFrame:
    """Make the pool: topic, position, kind, item, doc_id, post_id, instance; by topic, position,
    instance.

    `kind` is that of the runs' items as the assessor gets them: posts, or visual ids (an instance
    that is pooled for itself is its own formula). A row is what gets one label; an item has one for
    each of its instances, counted from 1.
    """
    if protocol.visually_distinct:
        rows = gather(sources.runs, visual=sources.visual)
    else:
        rows = gather(sources.runs, deepest=_deepest(protocol))
    pooled = after_earlier(pooled_rows(rows, protocol, sources), sources.earlier)
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
            parts.append(_as_labels(after_earlier(_single(items), sources.earlier), item_kind))
    labels = pl.concat(parts).unique(
        ["topic", "item", "instance"], keep="first", maintain_order=True
    )
    places = in_random_order(labels.select("topic", "item").unique(), seed=seed)
    labels = labels.join(places, on=["topic", "item"])
    return in_pool_order(labels.select(*POOL_COLUMNS, "instance"))


def _deepest(protocol: PoolProtocol) -> int:
    """Return the rank below which no post enters a pool. Rank by rank, one run alone has `size` items
    at the rank `size`.
    """
    return max(
        protocol.primary,
        protocol.alternate,
        protocol.manual or 0,
        protocol.size,
        protocol.extra_depth or 0,
    )


def pooled_rows(rows: pl.DataFrame, protocol: PoolProtocol, sources: PoolSources) -> pl.DataFrame:
    """Keep the rows of `gather` that enter the pool by the protocol's method, or by its extra depth
    for relevant posts.
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
    """Return the instances that were pooled with what they are chosen by (see `choose_instances`).

    topic, item, doc_id, post, runs (that brought it into the pool), ranks (in all runs, pooled or
    not), thread.
    """
    key = ["topic", "doc_id"]
    ranks = (
        rows.join(pooled.select(key).unique(), on=key, how="semi").group_by(key).agg(ranks="order")
    )
    brought = pooled.group_by("topic", "item", "doc_id").agg(runs=pl.col("run").n_unique())
    known = one_post_each(pooled).join(brought, on=["topic", "item", "doc_id"]).join(ranks, on=key)
    if threads is None:
        return known.with_columns(thread=pl.lit(None, pl.String))
    return known.join(threads.group_by("post").agg(pl.col("thread").min()), on="post", how="left")


def one_post_each(pooled: pl.DataFrame) -> pl.DataFrame:
    """Return each pooled instance once, in the post that most runs name; of equals the first in the
    alphabet.
    """
    counted = pooled.group_by("topic", "item", "doc_id", "post").len()
    ordered = counted.sort(pl.col("post").is_null(), "len", "post", descending=[False, True, False])
    return ordered.unique(["topic", "item", "doc_id"], keep="first", maintain_order=True).drop(
        "len"
    )


def after_earlier(rows: pl.DataFrame, earlier: pl.DataFrame | None) -> pl.DataFrame:
    """Leave out the items and the instances that earlier pools of the task hold."""
    if earlier is None:
        return rows
    left = rows.join(earlier, on=["topic", "item"], how="anti")
    return left.join(earlier, on=["topic", "doc_id"], how="anti")


def _single(items: pl.DataFrame) -> pl.DataFrame:
    """Return items that are judged by themselves as their own only instances."""
    rows = items.select("topic", "item", doc_id="item", post=pl.lit(None, pl.String)).unique()
    return rows.with_columns(instance=pl.lit(1, pl.Int32))


def _as_labels(rows: pl.DataFrame, kind: ItemKind) -> pl.DataFrame:
    post = pl.col("doc_id" if kind == ItemKind.POSTS else "post")
    return rows.select(
        "topic", "item", "doc_id", "instance", post_id=post.fill_null(""), kind=pl.lit(kind.value)
    )


def in_pool_order(pool: pl.DataFrame) -> pl.DataFrame:
    """Sort a pool as it is written: by topic (A.9 before A.10), position, instance."""
    return pool.sort(
        pl.col("topic").cast(topic_order(pool["topic"].unique())), "position", "instance"
    )


def write_pool(pool: pl.DataFrame) -> bytes:
    """Write a pool as the TSV whose sha256 is its hash: a header, then a line for each label, in
    the pool's order.

    `pool` is what `make_pool` gives, in any sequence of rows; the instances of an item stand in
    their order.
    """
    return (
        in_pool_order(pool)
        .select(POOL_COLUMNS)
        .write_csv(separator="\t", quote_style="never")
        .encode()
    )
