"""Rankings beside each other: by other measures, judgments, groups or samples of the topics.

Values are a matrix of runs by measures. NaN is a missing value; a pair of measures is compared over
the runs that have both. A coefficient is NaN if one of the measures has a single value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.comparison.differences import DECIMALS
from arqkit.measures.columns import Integers, Reals

SAMPLES = 2_000
"""A share of so many samples has a standard error of about 1%."""

PERSISTENCE = 0.9
"""The p of rank-biased overlap: the first ten items have 86% of the weight."""


@dataclass(frozen=True, slots=True)
class RankingEffect:
    """How two rankings of the same runs by one measure compare.

    - runs: the number of runs in both.
    - tau: Kendall's tau-b; None if all runs of a ranking have the same value, or for a single run.
      Runs with equal values are tied: a pair tied in one ranking counts for neither order, and the
      divisor is the geometric mean of the pairs untied in either.
    - tau_ap: tau-AP of the second ranking with the first as the truth. Errors at the top of the
      second weigh more. None if two runs of a ranking are tied, because it is not defined for ties,
      or for a single run.
    - swaps: the pairs of runs whose first is better in the first ranking and worse in the second.
    """

    runs: int
    tau: float | None
    tau_ap: float | None
    swaps: tuple[tuple[str, str], ...]


def ranking_effects(first: pl.DataFrame, second: pl.DataFrame) -> dict[str, RankingEffect]:
    """Return the effect of other judgments on each measure, in the order of the first scores.

    Scores have the columns run (String), measure and value, with one row for each run and measure:
    the means over topics by either judgments. Runs and measures that are only in one of the frames
    are left out, and larger values are better. Values are compared as they are.
    """
    both = first.join(second, on=["run", "measure"], maintain_order="left")
    return {
        str(measure): _effect(rows)
        for (measure,), rows in both.group_by("measure", maintain_order=True)
    }


def _effect(rows: pl.DataFrame) -> RankingEffect:
    runs = rows["run"].to_list()
    before, after = rows["value"].to_numpy(), rows["value_right"].to_numpy()
    # +1 where the run of the row is better than that of the column, 0 for ties.
    signs_before, signs_after = (
        np.sign(values[:, None] - values[None, :]) for values in (before, after)
    )
    untied = float(np.abs(signs_before).sum() * np.abs(signs_after).sum())
    swapped = sorted(
        np.argwhere((signs_before > 0) & (signs_after < 0)).tolist(),
        key=lambda pair: -before[pair[0]],
    )
    return RankingEffect(
        runs=len(runs),
        tau=float((signs_before * signs_after).sum() / np.sqrt(untied)) if untied else None,
        tau_ap=_tau_ap(signs_before, after),
        swaps=tuple((runs[better], runs[worse]) for better, worse in swapped),
    )


def _tau_ap(signs: NDArray[np.int8], after: Reals) -> float | None:
    """Return tau-AP: the mean correctness above each run of the second ranking but the best."""
    size = len(after)
    ties = (signs == 0).sum() - size
    if size < 2 or ties or len(np.unique(after)) < size:
        return None
    order = np.argsort(-after)
    correct = np.triu(signs[np.ix_(order, order)] > 0).sum(axis=0)
    return float(2 * (correct[1:] / np.arange(1, size)).mean() - 1)


class TopStability(NamedTuple):
    """How stable the best runs are over samples of the topics.

    `same` is the share of samples with the same best runs, in any order; `by_run` is, for each run,
    the share of samples that have it among the best. Of runs with equal means, the first comes
    first.
    """

    same: float
    by_run: Reals


def top_stability(
    scores: Reals, finished: NDArray[np.bool_], *, unscored: int, top: int, seed: int
) -> TopStability:
    """Return the stability of the `top` best runs of a matrix of runs by topics.

    `finished` marks the topics that are fully judged; `unscored` is the number of further topics
    that have no scores yet. A missing score is NaN, and a run's mean leaves it out.
    """
    _, topics = scores.shape
    draws = int((~finished).sum()) + unscored
    random = np.random.default_rng(seed)
    counts = random.multinomial(draws, np.full(topics, 1 / topics), size=SAMPLES) + finished
    is_top = _best(_means(scores, counts), top)
    now = _best(_means(scores, np.ones((1, topics), dtype=np.int64)), top)
    return TopStability(float((is_top == now).all(axis=1).mean()), is_top.mean(axis=0))


def _means(scores: Reals, counts: NDArray[np.int64]) -> Reals:
    has_score = ~np.isnan(scores)
    totals = counts @ np.where(has_score, scores, 0).T
    numbers = counts @ has_score.T.astype(np.int64)
    return np.divide(totals, numbers, out=np.zeros_like(totals), where=numbers > 0)


def _best(means: Reals, top: int) -> NDArray[np.bool_]:
    places = np.argsort(-np.round(means, 12), axis=1, kind="stable")[:, :top]
    marks = np.zeros(means.shape, dtype=np.bool_)
    np.put_along_axis(marks, places, True, axis=1)
    return marks


def rank_biased_overlap(
    first: pl.DataFrame, second: pl.DataFrame, *, persistence: float = PERSISTENCE
) -> dict[str, float]:
    """Return the extrapolated rank-biased overlap of the topics of both runs.

    Rankings of different lengths are extrapolated as in equation 32 of Webber, Moffat & Zobel, A
    Similarity Measure for Indefinite Rankings, TOIS 28(4), 2010.
    """
    sizes = _sizes(first).join(_sizes(second), on="topic", suffix="_right")
    meets = first.join(second, on=["topic", "item"]).select(
        "topic", depth=pl.max_horizontal("order", "order_right")
    )
    depths = dict(meets.group_by("topic").agg("depth").iter_rows())
    overlaps = {}
    for topic, size, size_right in sizes.iter_rows():
        places = np.array(depths.get(topic, []), dtype=np.int64)
        overlaps[topic] = _overlap(
            places, min(size, size_right), max(size, size_right), persistence
        )
    return overlaps


def jaccard(first: pl.DataFrame, second: pl.DataFrame, *, cutoff: int) -> dict[str, float]:
    """Return the common items of the first `cutoff` of both runs by all of them, by topic."""
    top = [frame.filter(pl.col("order") <= cutoff) for frame in (first, second)]
    sizes = _sizes(top[0]).join(_sizes(top[1]), on="topic", suffix="_right")
    common = top[0].join(top[1], on=["topic", "item"]).group_by("topic").agg(common=pl.len())
    both = sizes.join(common, on="topic", how="left").with_columns(
        pl.col("common").fill_null(0).cast(pl.Int64)
    )
    values = both.select(
        "topic", pl.col("common") / (pl.col("size") + pl.col("size_right") - pl.col("common"))
    )
    return dict(values.iter_rows())


def _sizes(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.group_by("topic", maintain_order=True).agg(size=pl.len().cast(pl.Int64))


def _overlap(depths: Integers, short: int, long: int, p: float) -> float:
    """Return RBO from the depths at which common items have appeared in both lists."""
    at = np.arange(1, long + 1)
    overlap = np.bincount(depths, minlength=long + 1)[1:].cumsum()
    in_short, weights = overlap[short - 1], p**at
    agreement = (overlap / at * weights).sum()
    beyond = (in_short * (at - short) / (short * at) * weights)[short:].sum()
    rest = (overlap[-1] - in_short) / long + in_short / short
    return float((1 - p) / p * (agreement + beyond) + rest * p**long)


class Correlations(NamedTuple):
    """Matrices of measures by measures: both coefficients, and the number of runs compared."""

    pearson: Reals
    kendall: Reals
    runs: Integers


def correlations(values: Reals) -> Correlations:
    """Return the correlation of each pair of measures (columns of `values`)."""
    size = values.shape[1]
    pearson, kendall = np.full((size, size), np.nan), np.full((size, size), np.nan)
    runs = np.zeros((size, size), dtype=np.int64)
    rounded = np.round(values, DECIMALS)  # Means that are equal on paper are tied.
    for row in range(size):
        for column in range(row, size):
            pair = rounded[:, [row, column]]
            first, second = pair[~np.isnan(pair).any(axis=1)].T
            places = [row, column], [column, row]
            runs[places] = len(first)
            pearson[places] = _cosine(_centred(first), _centred(second))
            kendall[places] = _cosine(_signs(first), _signs(second))
    return Correlations(pearson, kendall, runs)


def _centred(values: Reals) -> Reals:
    """Return the differences from the mean, which are exactly 0 if all values are equal."""
    return values - values.mean() if len(np.unique(values)) > 1 else np.zeros(len(values))


def _signs(values: Reals) -> Reals:
    return np.sign(values[:, None] - values[None, :]).ravel()


def _cosine(first: Reals, second: Reals) -> float:
    length = np.sqrt((first**2).sum()) * np.sqrt((second**2).sum())
    return float((first * second).sum() / length) if length else np.nan


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
    `swaps` is the number of pairs of runs that the groups rank in opposite order.
    """

    first: str
    second: str
    runs: int
    tau: float | None
    swaps: int


def topic_group(name: str, scores: Reals, *, ranked: int | None = None) -> TopicGroup:
    """Return a group from the scores of runs (rows) for its topics; a missing score is NaN.

    Without `ranked`, all runs are ranked.
    """
    has_score = ~np.isnan(scores)
    counts = has_score.sum(axis=1)
    totals = np.where(has_score, scores, 0.0).sum(axis=1)
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
    topic_values = [values.get(topic, "") for topic in topics]
    names = sorted(
        {*topic_values} - {""},
        key=lambda name: (order.index(name) if name in order else len(order), name),
    )
    return [
        topic_group(name, scores[:, [value == name for value in topic_values]], ranked=ranked)
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
        figures = (effect.runs, effect.tau, len(effect.swaps)) if effect else (0, None, 0)
        pairs.append(GroupPair(first.name, second.name, *figures))
    return pairs


def _ranking(group: TopicGroup) -> pl.DataFrame:
    # Equal means may differ in the last digits by the order of their sums.
    values = pl.DataFrame({"value": group.means[: group.ranked].round(12)}).with_row_index("run")
    named = values.with_columns(pl.col("run").cast(pl.String), measure=pl.lit(""))
    return named.filter(pl.col("value").is_not_nan())
