"""Pool depths: the rows of runs, and the depth at which each enters a pool (protocol §5)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import polars as pl

from arqkit.protocols.presets import PoolProtocol, RunKind
from arqkit.records import TaskKind

DEEPEST = 1000
MAX_INSTANCES = 50
LARGEST_SEED = 2**63 - 1
OF_KIND = {
    TaskKind.ANSWERS: frozenset({"extra_threads", "includes_generated_answers", "shows_threads"}),
    TaskKind.FORMULAS: frozenset(
        {"visually_distinct", "instances", "instance_policy", "extra_depth"}
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


INDEX_SCHEMA = {
    "run": pl.String,
    "topic": pl.String,
    "item": pl.String,
    "post": pl.String,
    "order": pl.Int32,
}

Frame = pl.DataFrame | pl.LazyFrame
"""A table that may be lazy: indexes and visual maps are large, and often only a part is needed."""


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
    seen = pl.col("is_first").cum_sum().over("list").cast(pl.Int32)
    return rows.with_columns(needs=seen + (~pl.col("is_first")).cast(pl.Int32)).select(columns)


def numbered(column: str) -> pl.Expr:
    """Number the strings of a column: equal strings get equal numbers, in no particular order."""
    return pl.col(column).cast(pl.Categorical).to_physical()


def _formulas(docs: pl.DataFrame, visual: Frame) -> pl.DataFrame:
    """Return the formula of each instance (doc, doc_id): doc, item, and its number as `formula`."""
    wanted = docs.lazy().select(formula_id="doc_id")
    known = (
        visual.lazy().select("formula_id", "visual_id").join(wanted, on="formula_id", how="semi")
    )
    formulas = known.group_by("formula_id").agg(pl.col("visual_id").min()).collect()
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
    """Return the smallest depth of all runs with at least `size` items per topic: topic, depth.

    The pool grows by one rank of all runs at a time (NTCIR-10, 003 §3). If the runs have fewer
    items, the depth is that of the last item. Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"Pool size {size} is too small. Use 1 or more.")
    first = rows.group_by("topic", "item").agg(pl.col("needs").min(), deepest=pl.col("needs").max())
    nth = pl.col("needs").sort().slice(size - 1, 1).first()
    return first.group_by("topic").agg(depth=pl.coalesce(nth, pl.col("deepest").max()))
