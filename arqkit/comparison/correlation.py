"""Rankings beside each other: correlation of measures, similarity of lists, stability of the top.

Values are a matrix of runs by measures. NaN is a missing value; a pair of measures is compared over
the runs that have both. A coefficient is NaN if one of the measures has a single value.
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.comparison.differences import DECIMALS
from arqkit.measures.columns import Integers, Reals

SAMPLES = 2_000


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
    chosen = _best(_means(scores, counts), top)
    now = _best(_means(scores, np.ones((1, topics), dtype=np.int64)), top)
    return TopStability(float((chosen == now).all(axis=1).mean()), chosen.mean(axis=0))


def _means(scores: Reals, counts: NDArray[np.int64]) -> Reals:
    """Return the means of the runs for each sample (rows), which counts each topic so often."""
    known = ~np.isnan(scores)
    totals = counts @ np.where(known, scores, 0).T
    numbers = counts @ known.T.astype(np.int64)
    return np.divide(totals, numbers, out=np.zeros_like(totals), where=numbers > 0)


def _best(means: Reals, top: int) -> NDArray[np.bool_]:
    """Mark the best runs of each row."""
    places = np.argsort(-np.round(means, 12), axis=1, kind="stable")[:, :top]
    marks = np.zeros(means.shape, dtype=np.bool_)
    np.put_along_axis(marks, places, True, axis=1)
    return marks


PERSISTENCE = 0.9
"""The p of rank-biased overlap: the first ten items have 86% of the weight."""


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
    """Return for each pair of runs whether the first is better (1), worse (-1) or tied (0)."""
    return np.sign(values[:, None] - values[None, :]).ravel()


def _cosine(first: Reals, second: Reals) -> float:
    length = np.sqrt((first**2).sum()) * np.sqrt((second**2).sum())
    return float((first * second).sum() / length) if length else np.nan
