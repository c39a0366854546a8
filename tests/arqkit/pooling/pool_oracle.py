"""Pools computed slowly by the definitions of the protocol, and random runs to pool."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import hypothesis.strategies as st
import polars as pl
from hypothesis import settings

from arqkit.pooling.pools import PooledRun
from arqkit.protocols.presets import RunKind

KINDS: tuple[RunKind, ...] = (
    "primary",
    "alternate",
    "manual",
    "baseline-primary",
    "baseline-alternate",
)
TOPICS = ("A.2", "A.10", "A.9")
IDS = tuple(str(number) for number in range(1, 19))

unhurried = settings(deadline=None, max_examples=60)
"""For laws of pools: one takes many small frames, and the machine may be busy."""

Lists = dict[str, list[str]]
"""The items of each topic, from the top down."""


class HandRun(NamedTuple):
    """A run in plain Python."""

    name: str
    team: str
    kind: RunKind
    lists: Lists


def posts_of(doc_id: str) -> str:
    """Return the post of each instance; a post has three instances."""
    return f"p{int(doc_id) // 3}"


def as_run(run: HandRun) -> PooledRun:
    """Return the run with its index."""
    rows = [
        (topic, item, posts_of(item), order)
        for topic, items in run.lists.items()
        for order, item in enumerate(items, start=1)
    ]
    schema = {"topic": pl.String, "item": pl.String, "post": pl.String, "order": pl.Int32}
    return PooledRun(run.name, run.team, run.kind, pl.DataFrame(rows, schema=schema, orient="row"))


def as_runs(runs: Iterable[HandRun]) -> list[PooledRun]:
    """Return the runs with their indexes."""
    return [as_run(run) for run in runs]


def visual_frame(mapping: Mapping[str, str]) -> pl.DataFrame:
    """Return a visual map as a frame."""
    return pl.DataFrame(
        list(mapping.items()),
        schema={"formula_id": pl.String, "visual_id": pl.String},
        orient="row",
    )


def items_frame(items: Iterable[tuple[str, str]], *columns: str) -> pl.DataFrame:
    """Return rows of strings as a frame with the columns topic and item, or other columns."""
    names = columns or ("topic", "item")
    return pl.DataFrame(sorted(items), schema=dict.fromkeys(names, pl.String), orient="row")


def pool_depth(items: list[str], mapping: Mapping[str, str], k: int) -> int:
    """Return the rank of the first instance of the k-th distinct formula, else the last rank."""
    seen: set[str] = set()
    for rank, item in enumerate(items, start=1):
        seen.add(mapping.get(item, item))
        if len(seen) == k:
            return rank
    return len(items)


def top(items: list[str], mapping: Mapping[str, str] | None, depth: int) -> list[str]:
    """Return the contribution of a run: its first posts, or all instances to its pool depth."""
    if mapping is None or depth == 0:
        return items[:depth]
    return items[: pool_depth(items, mapping, depth)]


def contributed(
    run: HandRun, mapping: Mapping[str, str] | None, depth: int
) -> set[tuple[str, str]]:
    """Return the (topic, item) pairs that a run contributes at a depth."""
    known = mapping or {}
    return {
        (topic, known.get(each, each))
        for topic, items in run.lists.items()
        for each in top(items, mapping, depth)
    }


hand_runs = st.lists(
    st.tuples(
        st.sampled_from(["T1", "T2", "T3"]),
        st.sampled_from(KINDS),
        st.dictionaries(
            st.sampled_from(TOPICS), st.lists(st.sampled_from(IDS), unique=True, min_size=1)
        ),
    ),
    max_size=5,
).map(lambda runs: [HandRun(f"run{number}", *run) for number, run in enumerate(runs)])

visual_maps = st.dictionaries(st.sampled_from(IDS), st.sampled_from(["v1", "v2", "v3", "v4"]))
