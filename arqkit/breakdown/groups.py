"""Scores of runs by groups of topics, such as the easy, medium and hard ones.

Source: Mansouri, Oard, Agarwal & Zanibbi, Effects of context, complexity, and clustering on
evaluation for math formula retrieval (003), table 6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from arqkit.agreement.effect import ranking_effects
from arqkit.measures.columns import Reals


@dataclass(frozen=True, eq=False)
class TopicGroup:
    """A group of topics with the mean of each run over them, NaN for a run without a score there.

    The first runs (`ranked`) are compared with each other. `gap` is the mean gap: the mean
    difference between neighbours in the ranking of these runs, or None for fewer than two.
    """

    name: str
    topics: int
    means: Reals
    gap: float | None
    ranked: int


class GroupPair(NamedTuple):
    """Kendall's tau-b of the rankings of the runs by two groups of topics (names).

    It is over the `runs` with scores in both, and None if either group ranks all of them equal.
    """

    first: str
    second: str
    runs: int
    tau: float | None


def topic_group(name: str, scores: Reals, *, ranked: int | None = None) -> TopicGroup:
    """Return a group from the scores of runs (rows) for its topics; a missing score is NaN.

    Without `ranked`, all runs are ranked.
    """
    known = ~np.isnan(scores)
    counts = known.sum(axis=1)
    totals = np.where(known, scores, 0.0).sum(axis=1)
    means = np.divide(totals, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    first = len(means) if ranked is None else ranked
    gap = mean_gap(means[:first][counts[:first] > 0])
    return TopicGroup(name, scores.shape[1], means, gap, first)


def topic_groups(
    scores: Reals,
    topics: Sequence[str],
    values: Mapping[str, str],
    order: Sequence[str],
    *,
    ranked: int | None = None,
) -> list[TopicGroup]:
    """Return the groups of topics with the same value, in an order of the values.

    `scores` has a row for each run and a column for each topic. Topics without a value are in no
    group. Values that are not in `order` follow in alphabetical order.
    """
    given = [values.get(topic, "") for topic in topics]
    names = sorted(
        {*given} - {""}, key=lambda name: (order.index(name) if name in order else len(order), name)
    )
    return [
        topic_group(name, scores[:, [value == name for value in given]], ranked=ranked)
        for name in names
    ]


def mean_gap(means: Reals) -> float | None:
    """Return the mean difference between neighbours in a ranking, or None for a single run."""
    # The differences of neighbours add up to the difference of the first and the last.
    return float(np.ptp(means)) / (len(means) - 1) if len(means) > 1 else None


def group_pairs(groups: Sequence[TopicGroup]) -> list[GroupPair]:
    """Return Kendall's tau-b of the rankings of the runs by each pair of groups."""
    pairs = []
    for first, second in combinations(groups, 2):
        effects = ranking_effects(_ranking(first), _ranking(second))
        effect = effects.get("")
        runs, tau = (effect.runs, effect.tau) if effect else (0, None)
        pairs.append(GroupPair(first.name, second.name, runs, tau))
    return pairs


def _ranking(group: TopicGroup) -> pl.DataFrame:
    # Equal means may differ in the last digits by the order of their sums.
    values = pl.DataFrame({"value": group.means[: group.ranked].round(12)}).with_row_index("run")
    named = values.with_columns(pl.col("run").cast(pl.String), measure=pl.lit(""))
    return named.filter(pl.col("value").is_not_nan())
