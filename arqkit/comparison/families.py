"""Tests of all pairs of runs, and p-values corrected for the number of pairs."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev

from arqkit.comparison.differences import (
    LEAST_DEVIATION,
    RESAMPLES,
    bootstrap_intervals,
    deviations,
    pair_differences,
    run_pairs,
    with_ties,
)
from arqkit.measures.columns import Integers, Reals

SIGNIFICANT = 0.05
"""The p-value below which a difference is called significant."""
NODES = 200
"""The points at which a normal distribution is evaluated."""
SMALL_FREEDOM, NODES_SMALL, NODES_LARGE = 30, 400, 64
"""With few degrees of freedom, the estimate of the error varies widely and needs more points."""
REACH, TINY = 8.5, 1e-17
"""The part of a normal distribution and the tail of another that no double can show."""
WIDEST, DEGREE = 20.0, 200
"""No double can show the probability of a wider range of normal variables. Up to there, it is a
smooth function, which a polynomial of this degree meets to 1e-12."""

EXACT_SIGNS = 13
"""The most topics with a difference for which the randomization test tries all signs."""
MOST_STEPS = 10_000
"""The most units that the differences of a pair add up to, if their sums are counted exactly."""
LEAST_UNIT = 1e-6
"""The smallest unit of differences; P@1000 has 1e-3."""
TOLERANCE = 1e-10
"""Sums of differences that are closer than this, by their size, are equal."""
PAIRS_OF_A_TEST = 10_000
"""Keeps the ranks of 100 topics in 8 MB."""
PAIRS_AT_ONCE = 200
"""Keeps the sums of the randomization test in 16 MB."""

TUKEY = "tukey"
"""The test whose p-values are those of the family already, without a correction."""

EXACT_TOPICS, EXACT_TIED_TOPICS = 50, 13
"""The most topics for which `scipy.stats.wilcoxon` computes the exact distribution, without and
with ties or zeros."""


def tukey_hsd(scores: Reals) -> Reals:
    """Return Tukey's p-value of each pair of runs (rows of `scores`), in the order of run_pairs.

    Runs with equal means have p = 1. The scores need two runs and two topics or more.
    """
    runs, topics = scores.shape
    means = scores.mean(axis=1)
    residuals = scores - means[:, None] - scores.mean(axis=0) + scores.mean()
    freedom = (runs - 1) * (topics - 1)
    error = np.sqrt((residuals**2).sum() / freedom / topics)
    first, second = run_pairs(runs)
    apart = np.abs(means[first] - means[second])
    apart[apart < LEAST_DEVIATION] = 0.0
    if error < LEAST_DEVIATION:
        return np.where(apart > 0, 0.0, 1.0)
    return studentized_range_tail(apart / error, runs, freedom)


def studentized_range_tail(ranges: Reals, groups: int, freedom: int) -> Reals:
    """Return the probability that a studentized range exceeds each of `ranges`.

    `scipy.stats.studentized_range` needs 50 ms for a value; this needs 0.1 ms, by Gauss-Legendre
    quadrature with the same points for all.
    """
    from scipy.stats import chi

    nodes = NODES_SMALL if freedom < SMALL_FREEDOM else NODES_LARGE
    root = np.sqrt(freedom)
    spread, weights = _points(chi.ppf(TINY, freedom) / root, chi.isf(TINY, freedom) / root, nodes)
    weights = weights * chi.pdf(spread * root, freedom) * root
    beyond = Chebyshev.interpolate(_beyond, DEGREE, domain=[0, WIDEST], args=(groups,))
    widths = np.minimum(np.outer(ranges, spread), WIDEST)
    return np.asarray(np.clip(beyond(widths) @ weights, 0.0, 1.0))


def _beyond(widths: Reals, groups: int) -> Reals:
    """Return the probability that the range of normal variables exceeds each of the widths."""
    from scipy.special import ndtr

    top, weights = _points(-REACH, REACH, NODES)
    weights = weights * groups * np.exp(-(top**2) / 2) / np.sqrt(2 * np.pi)
    within = np.maximum(ndtr(top) - ndtr(top - widths[..., None]), 0.0) ** (groups - 1)
    return np.asarray(1 - within @ weights)


def _points(low: float, high: float, nodes: int) -> tuple[Reals, Reals]:
    places, weights = np.polynomial.legendre.leggauss(nodes)
    half = (high - low) / 2
    return low + half * (places + 1), half * weights


def paired_t(differences: Reals) -> Reals:
    """Return the p-value of Student's paired t test of each pair."""
    from scipy.special import stdtr

    topics = differences.shape[1]
    means, spread = differences.mean(axis=1), deviations(differences)
    statistic = np.zeros(len(means))
    np.divide(np.abs(means), spread / np.sqrt(topics), out=statistic, where=spread > 0)
    statistic[(spread == 0) & (means != 0)] = np.inf
    return np.asarray(2 * stdtr(topics - 1, -statistic))


def wilcoxon_signed_rank(differences: Reals) -> Reals:
    """Return the p-value of the Wilcoxon signed-rank test of each pair.

    As in `scipy.stats.wilcoxon` of this pair alone, topics without a difference are dropped. The
    distribution is exact for up to 50 topics without ties and zeros, and for up to 13 topics with
    them, where SciPy tries all signs; else it is normal with the correction for ties.
    """
    from scipy.stats import rankdata, wilcoxon

    topics, is_zero = differences.shape[1], differences == 0
    rising = np.sort(np.abs(differences), axis=1)
    has_ties = is_zero.any(axis=1) | (np.diff(rising, axis=1) == 0).any(axis=1)
    is_exact = topics <= np.where(has_ties, EXACT_TIED_TOPICS, EXACT_TOPICS)
    is_normal = ~is_exact & ~is_zero.all(axis=1)
    p_values = np.ones(len(differences))
    if is_normal.any():
        rows = differences[is_normal]
        normal = wilcoxon(rows, axis=1, method="asymptotic")  # type: ignore[call-overload]  # stubs
        p_values[is_normal] = normal.pvalue
    if is_exact.any():
        ranks = rankdata(np.abs(differences), axis=1) - is_zero.sum(axis=1, keepdims=True)
        ranks[is_zero] = 0
        # Ranks of ties are halves, so they are counted in halves.
        halves = np.round(2 * ranks[is_exact] * np.sign(differences[is_exact])).astype(np.int64)
        p_values[is_exact] = _exact_tails(halves)
    return p_values


def randomization(differences: Reals, *, resamples: int = RESAMPLES, seed: int = 0) -> Reals:
    """Return the p-value of Fisher's randomization test of each pair's mean difference.

    It is exact if the differences are multiples of a unit, as those of P@10 are, or if at most 13
    topics have one. Else signs are drawn at random, the same for all pairs with as many topics,
    and the observed signs count as one more sample.
    """
    differences = with_ties(differences)
    topics, p_values = differences.shape[1], np.empty(len(differences))
    units = _units(differences)
    is_counted = units > 0
    steps = differences[is_counted] / units[is_counted, None]
    p_values[is_counted] = _exact_tails(np.round(steps).astype(np.int64))
    is_short = ~is_counted & ((differences != 0).sum(axis=1) <= EXACT_SIGNS)
    if is_short.any():
        largest = np.argsort(np.abs(differences[is_short]), axis=1)[:, -EXACT_SIGNS:]
        rows = np.take_along_axis(differences[is_short], largest, axis=1)
        bits = np.arange(2 ** rows.shape[1])[:, None] >> np.arange(rows.shape[1]) & 1
        p_values[is_short] = _reached(rows, bits) / len(bits)
    is_drawn = ~is_counted & ~is_short
    if is_drawn.any():
        bits = np.random.default_rng(seed).integers(0, 2, (resamples, topics))
        p_values[is_drawn] = (_reached(differences[is_drawn], bits) + 1) / (resamples + 1)
    return p_values


def _reached(differences: Reals, bits: Integers) -> Integers:
    """Return how many rows of signs give each pair (row) at least the sum that was observed."""
    signs, reached = 2.0 * bits - 1, np.empty(len(differences), dtype=np.int64)
    for start in range(0, len(differences), PAIRS_AT_ONCE):
        part = differences[start : start + PAIRS_AT_ONCE]
        least = np.abs(part.sum(axis=1)) - TOLERANCE * np.abs(part).sum(axis=1)
        sums = np.abs(signs @ part.T)
        reached[start : start + PAIRS_AT_ONCE] = (sums >= least).sum(axis=0)
    return reached


def _units(differences: Reals) -> Reals:
    """Return the unit of which the differences of each pair are multiples; 0 for too many units.

    It is their greatest common divisor by Euclid's algorithm. A pair without differences has 1.
    """
    sizes = np.abs(differences)
    least = np.maximum(sizes.sum(axis=1) / MOST_STEPS, LEAST_UNIT)
    divisors = np.zeros(len(sizes))
    for column in sizes.T:
        larger, smaller = np.maximum(divisors, column), np.minimum(divisors, column)
        # A divisor below the least unit divides nothing: it stays, and the check below refuses it.
        while (moves := smaller >= least).any():
            rest = np.remainder(larger, smaller, where=moves, out=np.zeros(len(sizes)))
            rest = np.minimum(rest, np.abs(smaller - rest), where=moves, out=rest)
            larger, smaller = np.where(moves, smaller, larger), np.where(moves, rest, smaller)
        divisors = larger
    divisors[divisors == 0] = 1.0
    steps = sizes / divisors[:, None]
    is_whole = (np.abs(steps - np.round(steps)) < LEAST_UNIT).all(axis=1)
    return np.where(is_whole & (divisors >= least), divisors, 0.0)


def _exact_tails(steps: Integers) -> Reals:
    """Return the exact p-value of the sum of each row of whole numbers over all of their signs.

    Rows with the same sizes share their distribution.
    """
    sizes, plus = np.abs(steps), np.where(steps > 0, steps, 0).sum(axis=1)
    kinds, kind = np.unique(np.sort(sizes, axis=1), axis=0, return_inverse=True)
    p_values = np.empty(len(steps))
    for number, row in enumerate(kinds):
        chances = np.ones(1)
        for step in row[row > 0]:
            both = np.zeros(len(chances) + step)
            both[: len(chances)] += chances / 2
            both[step:] += chances / 2
            chances = both
        below, pairs = np.cumsum(chances), kind == number
        # The distribution is symmetric: the smaller of both sums has the smaller tail.
        p_values[pairs] = 2 * below[np.minimum(plus[pairs], row.sum() - plus[pairs])]
    return np.minimum(p_values, 1.0)


def holm(values: Reals) -> Reals:
    """Return p-values adjusted by Holm, which controls the probability of any false rejection."""
    order = np.argsort(values)
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return adjusted


def benjamini_hochberg(values: Reals) -> Reals:
    """Return p-values adjusted by Benjamini and Hochberg: the rate of false rejections."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(values))


PAIR_TESTS: Mapping[str, Callable[[Reals], Reals]] = {
    "t": paired_t,
    "wilcoxon": wilcoxon_signed_rank,
    "randomization": randomization,
}
FAMILY_TESTS = (*PAIR_TESTS, TUKEY)


class PairFamily(NamedTuple):
    """The p-values of a test of all pairs of runs, as square matrices, NaN on the diagonal.

    `plain` is uncorrected. Tukey's p-values are equal in all three. A pair without two common
    topics has NaN, and does not count as a test.
    """

    plain: Reals
    holm: Reals
    bh: Reals


def pair_family(scores: Reals, test: str) -> PairFamily:
    """Return a test of all pairs of runs (rows of `scores`); a missing score is NaN.

    A pair is tested over the topics for which both runs have scores; Tukey's test is over the
    topics for which all runs have scores.
    """
    if test == TUKEY:
        common = scores[:, ~np.isnan(scores).any(axis=0)]
        pairs = len(scores) * (len(scores) - 1) // 2
        is_possible = min(common.shape) > 1
        values = tukey_hsd(common) if is_possible else np.full(pairs, np.nan)
        return PairFamily(*[_square(values, len(scores))] * 3)
    starts = range(0, max(1, math.comb(len(scores), 2)), PAIRS_OF_A_TEST)
    parts = (pair_differences(scores, slice(at, at + PAIRS_OF_A_TEST)) for at in starts)
    values = np.concatenate([_over_common_topics(part, PAIR_TESTS[test]) for part in parts])
    has_value = ~np.isnan(values)
    corrected = [np.full(len(values), np.nan) for _ in range(2)]
    for result, correct in zip(corrected, (holm, benjamini_hochberg), strict=True):
        result[has_value] = correct(values[has_value])
    return PairFamily(*(_square(p_values, len(scores)) for p_values in (values, *corrected)))


def p_values_against(scores: Reals, best: int, test: str) -> Reals:
    """Return Holm's p-value of each run (row of `scores`) against the one in the row `best`.

    A missing score is NaN. A run without two topics in common with it has NaN, as has `best`.
    """
    differences = with_ties(scores - scores[best])
    values = _over_common_topics(differences, PAIR_TESTS[test])
    values[best] = np.nan
    has_value = ~np.isnan(values)
    values[has_value] = holm(values[has_value])
    return values


def mean_intervals(scores: Reals) -> Reals:
    """Return the ends of the 95% bootstrap interval of each run's mean over its topics.

    A missing score is NaN, and so are the ends of a run with fewer than two topics.
    """
    parts = [
        scores[start : start + PAIRS_AT_ONCE] for start in range(0, len(scores), PAIRS_AT_ONCE)
    ]
    return np.concatenate([_over_common_topics(part, bootstrap_intervals, 2) for part in parts])


def _over_common_topics(rows: Reals, compute: Callable[[Reals], Reals], *width: int) -> Reals:
    """Compute something of each row over its topics; rows with the same topics are taken together.

    `width` is the number of results of a row, if it is not one.
    """
    masks, group = np.unique(~np.isnan(rows), axis=0, return_inverse=True)
    results = np.full((len(rows), *width), np.nan)
    for number, mask in enumerate(masks):
        if mask.sum() > 1:
            results[group == number] = compute(rows[group == number][:, mask])
    return results


def _square(values: Reals, runs: int) -> Reals:
    matrix = np.full((runs, runs), np.nan)
    first, second = run_pairs(runs)
    matrix[first, second] = matrix[second, first] = values
    return matrix
