"""Differences of runs by topic, for many pairs of runs at once.

Scores are a matrix of runs by topics, and differences a matrix of pairs of runs by topics: the
first run minus the second. Both are complete; the caller leaves out topics without a score.
"""

import numpy as np

from arqkit.measures.columns import Integers, Reals

DECIMALS = 12
"""Means are rounded before they are ranked: those that are equal on paper are tied."""
SAME = 1e-12
"""Differences that are closer are equal on paper, as 0.3 - 0.2 and 0.2 - 0.1 are. The error of a
score is below 1e-14; rounding would add errors, and make unequal what is equal: 1/3 + 1/3 and 2/3.
"""
LEAST_DEVIATION = 1e-12
"""A smaller standard deviation is the rounding error of equal differences."""
RESAMPLES = 10_000
"""How often topics are drawn for an interval, and signs for a randomization test."""
TAILS = (0.025, 0.975)
"""The ends of a 95% interval."""


def run_pairs(runs: int) -> tuple[Integers, Integers]:
    """Return the places of the first and the second run of each pair, in the order of the runs."""
    first, second = np.triu_indices(runs, 1)
    return first.astype(np.int64), second.astype(np.int64)


def pair_differences(scores: Reals, part: slice = slice(None)) -> Reals:
    """Return the differences of pairs of runs (rows of `scores`), in the order of run_pairs.

    They are those of all pairs, or of a part: all pairs of 1,000 runs by 100 topics have 400 MB.
    """
    first, second = (places[part] for places in run_pairs(len(scores)))
    return with_ties(scores[first] - scores[second])


def with_ties(differences: Reals) -> Reals:
    """Return differences whose sizes are equal numbers where they are equal on paper.

    Each row is compared in itself, so that no pair of runs depends on another. NaN stays.
    """
    sizes = np.abs(differences)
    order = np.argsort(sizes, axis=1)
    rising = np.take_along_axis(sizes, order, axis=1)
    opens = np.diff(rising, axis=1, prepend=0.0) > SAME
    places = np.where(opens, np.arange(sizes.shape[1]), -1)
    first = np.maximum.accumulate(places, axis=1)  # of the equal ones; -1 for zeros
    tied = np.where(first < 0, 0.0, np.take_along_axis(rising, np.maximum(first, 0), axis=1))
    np.put_along_axis(sizes, order, tied, axis=1)
    return np.asarray(np.where(np.isnan(differences), np.nan, np.copysign(sizes, differences)))


def wins_ties_losses(differences: Reals) -> Integers:
    """Return for each pair the number of topics that the first run wins, ties and loses."""
    sides = [differences > 0, differences == 0, differences < 0]
    return np.stack([side.sum(axis=1) for side in sides], axis=1).astype(np.int64)


def deviations(differences: Reals) -> Reals:
    """Return the standard deviation of each pair's differences, and 0 if all are equal."""
    spread = differences.std(axis=1, ddof=1)
    return np.asarray(np.where(spread < LEAST_DEVIATION, 0.0, spread))


def effect_sizes(differences: Reals) -> Reals:
    """Return Cohen's d of each pair: the mean difference divided by its standard deviation (d_z).

    It is NaN for pairs without deviation and for fewer than two topics. Source: Cohen, Statistical
    Power Analysis for the Behavioral Sciences, 1988, section 2.3.5.
    """
    if differences.shape[1] < 2:
        return np.full(len(differences), np.nan)
    spread = deviations(differences)
    means = differences.mean(axis=1)
    sizes = np.full(len(means), np.nan)
    np.divide(means, spread, out=sizes, where=spread > 0)
    return sizes


def bootstrap_intervals(differences: Reals, *, resamples: int = RESAMPLES, seed: int = 0) -> Reals:
    """Return the ends of the 95% percentile interval of each pair's mean difference.

    Topics are drawn with replacement, the same for all pairs. The same seed draws the same topics
    as `scipy.stats.bootstrap`. Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993,
    chapter 13.
    """
    topics = differences.shape[1]
    drawn = np.random.default_rng(seed).integers(0, topics, (resamples, topics))
    drawn += np.arange(resamples)[:, None] * topics
    counts = np.bincount(drawn.ravel(), minlength=resamples * topics).reshape(resamples, topics)
    means = differences @ (counts.T / topics)
    return _row_quantiles(means)


def _row_quantiles(values: Reals) -> Reals:
    """Return what `np.quantile` returns for TAILS; it would sort columns, which is slow."""
    places = np.array(TAILS) * (values.shape[1] - 1)
    low = np.floor(places).astype(int)
    values = np.partition(values, [*low, *(low + 1)], axis=1)
    ends: Reals = values[:, low] + (values[:, low + 1] - values[:, low]) * (places - low)
    return ends
