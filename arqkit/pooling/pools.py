"""Pools: the items assessors judge, in judging order (protocol §5).

Sources: 000 §4.4 and §5.4, 001, 003 §3, 004 §4.4 and §5.4.

A pool is the union of the tops of its runs and of the extras that the protocol admits, without
duplicates. All random choices come from the seed and the ids (`chances`), never from the order of
rows or runs: the same inputs and seed give the same pool, byte for byte, in any order.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b

import polars as pl

from arqkit.protocols.presets import InstancePolicy, PoolProtocol, RunKind
from arqkit.ranking import Frame
from arqkit.records import ItemKind, TaskKind
from arqkit.topics import topic_order

DEEPEST = 1000
MAX_INSTANCES = 50
LARGEST_SEED = 2**63 - 1
OF_KIND = {
    TaskKind.ANSWERS: frozenset({"extra_threads", "includes_generated_answers", "shows_threads"}),
    TaskKind.FORMULAS: frozenset(
        {
            *("visually_distinct", "instances", "instance_policy"),
            *("extra_depth", "shows_formulas_alone"),
        }
    ),
    TaskKind.GENERATED_ANSWERS: frozenset[str](),
    TaskKind.DOCUMENTS: frozenset[str](),
}
"""The settings that exist for one kind of task only."""

_BOUNDS = {
    "primary": (0, DEEPEST),
    "alternate": (0, DEEPEST),
    "manual": (0, DEEPEST),
    "size": (0, DEEPEST),
    "extra_depth": (0, DEEPEST),
    "instances": (1, MAX_INSTANCES),
    "seed": (0, LARGEST_SEED),
}

INDEX_SCHEMA = {
    "run": pl.String,
    "topic": pl.String,
    "item": pl.String,
    "post": pl.String,
    "order": pl.Int32,
}

_ONLY_INSTANCE = (pl.lit(1, pl.Int32).alias("instance"), pl.lit(1, pl.UInt32).alias("candidates"))
POOL_COLUMNS = ("topic", "position", "kind", "item", "doc_id", "post_id")


def invalid_settings(protocol: PoolProtocol, *, kind: TaskKind, seed: int) -> Iterator[str]:
    """Yield a message for each setting that is invalid for the kind of task."""
    values = {**asdict(protocol), "seed": seed}
    for name, (lowest, highest) in _BOUNDS.items():
        value = values[name]
        if value is not None and not lowest <= value <= highest:
            yield f"{_title(name)} is {value}. Use a whole number from {lowest} to {highest}."
    if protocol.method == "rank-by-rank" and protocol.size == 0:
        yield "Rank-by-rank pooling needs a pool size. Use 1 or more."
    for name in sorted(frozenset().union(*OF_KIND.values()) - OF_KIND[kind]):
        if name not in ("instances", "instance_policy") and values[name] not in (None, False):
            yield f"{_title(name)} does not apply to this kind of task. Leave it out."


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


@dataclass(frozen=True)
class PooledRun:
    """A run to pool: its unique name, its team, its pooling kind and its index.

    The index has the columns topic, item (a post or a formula instance), order and, if known, post.
    A run with wrong posts comes without them (000, footnote 16).
    """

    name: str
    team: str
    kind: RunKind
    index: Frame


def depth_needed(index: pl.DataFrame, *, visual: Frame | None) -> pl.DataFrame:
    """Return the depth at which each row of a run enters the pool.

    The result has the columns topic, item, doc_id, post, order and needs (the depth). Without
    `visual`, an item is a post or a formula instance, and its depth is its order. With `visual`
    (formula_id, visual_id), an item is a visually distinct formula: the first instance of the d-th
    formula has depth d. An instance that repeats one of the d formulas above it has depth d + 1,
    because depth k ends with the first instance of the k-th formula (000 §5.4). An instance without
    a visual id is a formula of its own. With a column run, each run is a separate list.
    """
    lists = [name for name in ("run", "topic") if name in index.columns]
    columns = [*lists, "item", "doc_id", "post", "order", "needs"]
    rows = index.select(*lists, pl.col("item").alias("doc_id"), "post", "order")
    if visual is None:
        return rows.with_columns(item="doc_id", needs="order").select(columns)
    # There are millions of rows: each string is numbered once, and only numbers are joined and
    # sorted.
    rows = rows.with_columns(
        doc=numbered("doc_id"), list=pl.struct(map(numbered, lists)).rank("dense")
    )
    docs = rows.filter(pl.col("doc").is_first_distinct()).select("doc", "doc_id")
    rows = rows.join(_formulas(docs, visual), on="doc", how="left").sort("list", "order")
    rows = rows.with_columns(is_first=pl.col("formula").is_first_distinct().over("list"))
    formulas_above = pl.col("is_first").cum_sum().over("list").cast(pl.Int32)
    return rows.with_columns(needs=formulas_above + (~pl.col("is_first")).cast(pl.Int32)).select(
        columns
    )


def numbered(column: str) -> pl.Expr:
    """Number the strings of a column: equal strings get equal numbers, in no particular order."""
    return pl.col(column).cast(pl.Categorical).to_physical()


def _formulas(docs: pl.DataFrame, visual: Frame) -> pl.DataFrame:
    """Return the formula of each instance (doc, doc_id): doc, item, and its number as `formula`."""
    instances = docs.lazy().select(formula_id="doc_id")
    mapped = (
        visual.lazy().select("formula_id", "visual_id").join(instances, on="formula_id", how="semi")
    )
    formulas = mapped.group_by("formula_id").agg(pl.col("visual_id").min()).collect()
    items = docs.join(formulas, left_on="doc_id", right_on="formula_id", how="left")
    return items.select("doc", item=pl.coalesce("visual_id", "doc_id")).with_columns(
        formula=numbered("item")
    )


def gather(
    runs: Sequence[PooledRun], *, visual: Frame | None = None, deepest: int | None = None
) -> pl.DataFrame:
    """Return the rows of all runs with the columns of `depth_needed`.

    Rows with a depth beyond `deepest` are left out. Raises ValueError if two runs share a name.
    """
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        raise ValueError(f"Two pooled runs share a name: {sorted(names)}.")
    parts = [_index_rows(run) for run in runs]
    limit = pl.lit(True) if deepest is None else pl.col("order") <= deepest
    # The depth of a post is its order, so deeper rows are not even read. The depth of a formula
    # depends on the whole list.
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
    """Return the rows of `gather` within the depth of their run."""
    limits = pl.DataFrame(
        {"run": list(depths), "depth": list(depths.values())},
        schema={"run": pl.String, "depth": pl.Int32},
    )
    deepest = rows.filter(pl.col("needs") <= max(depths.values(), default=0))
    return deepest.join(limits, on="run").filter(pl.col("needs") <= pl.col("depth")).drop("depth")


def rank_by_rank(rows: pl.DataFrame, *, size: int) -> pl.DataFrame:
    """Return the smallest depth at which all runs give at least `size` items: topic, depth.

    The pool grows by one rank of all runs at a time (NTCIR-10, 003 §3). If the runs have fewer
    items, the depth is that of the last item. Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"Pool size {size} is too small. Use 1 or more.")
    first = rows.group_by("topic", "item").agg(pl.col("needs").min(), deepest=pl.col("needs").max())
    nth = pl.col("needs").sort().slice(size - 1, 1).first()
    return first.group_by("topic").agg(depth=pl.coalesce(nth, pl.col("deepest").max()))


def chances(rows: pl.DataFrame, *columns: str, seed: int, purpose: str) -> pl.Series:
    """Return a random number (UInt64) for each row by its ids in `columns`, named `chance`.

    Draws with different purposes are independent.
    """
    ids = rows.select(
        pl.concat_str([pl.lit(f"{seed}\t{purpose}"), *columns], separator="\t", ignore_nulls=True)
    )
    draws = [
        int.from_bytes(blake2b(row_id.encode(), digest_size=8).digest())
        for row_id in ids.to_series()
    ]
    return pl.Series("chance", draws, dtype=pl.UInt64)


def choose_instances(
    candidates: pl.DataFrame, *, policy: InstancePolicy, limit: int, seed: int
) -> pl.DataFrame:
    """Choose at most `limit` instances of each formula, numbered by `position` from 1.

    The result has the columns topic, item, doc_id, post and position. `candidates` has the first
    four, and the column the policy uses:

    - runs (ARQMath-1, 000 §5.4): `runs`, the number of runs that contributed the instance; the
      highest wins.
    - reciprocal-rank (ARQMath-2 and -3, 003 §3, 004 §5.4): `ranks`, a list of the instance's ranks
      in all runs; the highest sum of 1/rank wins. Sums are compared exactly.
    - threads (001): `thread`. The policy chooses answer posts at random, and one instance of each
      post: first one post of each thread, then posts from the rest. If there are more threads than
      the limit, the threads are drawn at random. A post with an unknown thread counts as a thread
      of its own, and an instance with an unknown post as a post of its own.

    Ties are broken at random by the seed and the ids.
    """
    chooser = {"runs": _by_runs, "reciprocal-rank": _by_votes, "threads": _by_threads}[policy]
    ordered = chooser(candidates, seed)
    position = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("topic", "item")
    instances = ordered.with_columns(position=position).filter(pl.col("position") <= limit)
    return instances.select("topic", "item", "doc_id", "post", "position")


def _by_runs(candidates: pl.DataFrame, seed: int) -> pl.DataFrame:
    return _most_first(candidates, "runs", seed)


def _by_votes(candidates: pl.DataFrame, seed: int) -> pl.DataFrame:
    return _most_first(candidates.with_columns(votes=_votes(candidates["ranks"])), "votes", seed)


def _most_first(candidates: pl.DataFrame, column: str, seed: int) -> pl.DataFrame:
    drawn = candidates.with_columns(
        chances(candidates, "topic", "item", "doc_id", seed=seed, purpose="instance")
    )
    return drawn.sort(
        "topic", "item", column, "chance", "doc_id", descending=[False, False, True, False, False]
    )


def _votes(ranks: pl.Series) -> pl.Series:
    """Return the rank of each list's sum of 1/rank among all sums; equal sums have equal ranks.

    Float sums would depend on the order of the runs, and 1/3 + 1/6 would not equal 1/2. Sums of
    whole numbers avoid both.
    """
    lists = ranks.to_list()
    distinct = {rank for ranking in lists for rank in ranking}
    unit = math.lcm(*distinct)
    weights = {rank: unit // rank for rank in distinct}
    sums = [sum(weights[rank] for rank in ranking) for ranking in lists]
    places = {value: place for place, value in enumerate(sorted(set(sums)))}
    return pl.Series([places[value] for value in sums], dtype=pl.UInt32)


def _by_threads(candidates: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Order answer posts at random, one post of each thread first; keep one instance of each post.

    The threads, the post of each thread and the rest are drawn independently. A thread with many
    posts has no better chance than others, and a post that was not drawn for its thread has the
    same chance as any other post of the rest.
    """
    key = ["topic", "item"]
    post = pl.coalesce("post", pl.format("instance {}", "doc_id"))
    named = candidates.with_columns(answer=post).with_columns(
        thread=pl.coalesce("thread", pl.format("post {}", "answer"))
    )
    drawn = named.with_columns(chances(named, *key, "doc_id", seed=seed, purpose="instance"))
    answers = drawn.sort(*key, "chance", "doc_id").unique(
        [*key, "answer"], keep="first", maintain_order=True
    )
    draws = {
        "in_thread": chances(answers, *key, "answer", seed=seed, purpose="answer"),
        "rest": chances(answers, *key, "answer", seed=seed, purpose="rest"),
        "of_thread": chances(answers, *key, "thread", seed=seed, purpose="thread"),
    }
    answers = answers.with_columns(**draws).sort(*key, "in_thread", "answer")
    answers = answers.with_columns(is_rest=~pl.struct(*key, "thread").is_first_distinct())
    turn = pl.when("is_rest").then("rest").otherwise("of_thread")
    return answers.with_columns(turn=turn).sort(*key, "is_rest", "turn", "answer")


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
    """Return the pool, one row per label: topic, position, kind, item, doc_id, post_id, instance,
    candidates.

    Rows are sorted by topic, position and instance. `kind` is the kind of the runs' items as
    assessors see them: posts or visual ids. An instance pooled without a visual id is a formula of
    its own. Instances of an item are counted from 1; `candidates` is the number of its instances
    that were pooled, of which the protocol's `instances` are judged.
    """
    rows = gather_for(protocol, sources)
    pooled = without_earlier(pooled_rows(rows, protocol, sources), sources.earlier)
    if protocol.visually_distinct:
        candidates = instance_candidates(pooled, rows, sources.threads)
        ranked = choose_instances(
            candidates, policy=protocol.instance_policy, limit=protocol.instances, seed=seed
        ).rename({"position": "instance"})
        counts = candidates.group_by("topic", "item").agg(candidates=pl.len())
        ranked = ranked.join(counts, on=["topic", "item"], maintain_order="left")
    else:
        ranked = one_post_each(pooled).with_columns(_ONLY_INSTANCE)
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
    return in_pool_order(labels.select(*POOL_COLUMNS, "instance", "candidates"))


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
    candidates = (
        one_post_each(pooled).join(contributed, on=["topic", "item", "doc_id"]).join(ranks, on=key)
    )
    if threads is None:
        return candidates.with_columns(thread=pl.lit(None, pl.String))
    return candidates.join(
        threads.group_by("post").agg(pl.col("thread").min()), on="post", how="left"
    )


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
    new_items = rows.join(earlier, on=["topic", "item"], how="anti")
    return new_items.join(earlier, on=["topic", "doc_id"], how="anti")


def _single(items: pl.DataFrame) -> pl.DataFrame:
    """Return items that are judged as a whole, each as its own only instance."""
    rows = items.select("topic", "item", doc_id="item", post=pl.lit(None, pl.String)).unique()
    return rows.with_columns(_ONLY_INSTANCE)


def _as_labels(rows: pl.DataFrame, kind: ItemKind) -> pl.DataFrame:
    is_whole = kind in (ItemKind.POSTS, ItemKind.DOCUMENTS)
    post = pl.col("doc_id" if is_whole else "post")
    columns = ("topic", "item", "doc_id", "instance", "candidates")
    return rows.select(*columns, post_id=post.fill_null(""), kind=pl.lit(kind.value))


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
