"""Two-sided tests of the differences of runs by topic, for many pairs of runs at once.

Two runs with equal scores in all topics have p = 1 in every test. The tests need two topics or
more. Sources: Sakai, Statistical Reform in Information Retrieval?, SIGIR Forum 48(1), 2014;
Smucker, Allan & Carterette, A Comparison of Statistical Significance Tests for Information
Retrieval Evaluation, CIKM 2007.
"""

import numpy as np

from arqkit.comparison.differences import RESAMPLES, deviations
from arqkit.measures.columns import Reals

EXACT_TOPICS, EXACT_TIED_TOPICS = 50, 13
"""The most topics for which `scipy.stats.wilcoxon` computes the exact distribution, without and
with ties or zeros."""
TOLERANCE = 1e-12
"""Sums of differences that are closer than this, by their size, are equal."""
PAIRS_AT_ONCE = 200
"""Keeps the sums of the randomization test in 16 MB."""


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

    As in `scipy.stats.wilcoxon`, topics without a difference are dropped. The distribution is exact
    for up to 50 topics without ties and zeros, and for up to 13 topics with them, else normal with
    the correction for ties.
    """
    from scipy.stats import rankdata

    sizes, zeros = np.abs(differences), (differences == 0).sum(axis=1, keepdims=True)
    low, high = (rankdata(sizes, method=way, axis=1) for way in ("min", "max"))
    ranks = np.where(differences == 0, 0.0, (low + high) / 2 - zeros)
    tied = np.where(differences == 0, 1.0, high - low + 1)
    topics, is_even = differences.shape[1], (zeros[:, 0] == 0) & (tied == 1).all(axis=1)
    is_exact = (is_even & (topics <= EXACT_TOPICS)) | (topics <= EXACT_TIED_TOPICS)
    plus = (ranks * (differences > 0)).sum(axis=1)
    found = np.empty(len(differences))
    found[is_exact] = _exact_signed_ranks(ranks[is_exact], plus[is_exact])
    rest = ~is_exact
    counts = topics - zeros[rest, 0]
    found[rest] = _normal_signed_ranks(plus[rest], counts, (tied[rest] ** 2 - 1).sum(axis=1))
    return found


def randomization(differences: Reals, *, resamples: int = RESAMPLES, seed: int = 0) -> Reals:
    """Return the p-value of Fisher's randomization test of each pair's mean difference.

    The signs of the differences are drawn at random, the same for all pairs; the observed signs
    count as one more sample. With few topics, all signs are tried, and the p-value is exact.
    """
    topics = differences.shape[1]
    is_exact = 2**topics <= resamples
    if is_exact:
        bits = np.arange(2**topics)[:, None] >> np.arange(topics) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, (resamples, topics))
    signs, extra = 2.0 * bits - 1, 0 if is_exact else 1
    found = np.empty(len(differences))
    for start in range(0, len(differences), PAIRS_AT_ONCE):
        part = differences[start : start + PAIRS_AT_ONCE]
        least = np.abs(part.sum(axis=1)) - TOLERANCE * np.abs(part).sum(axis=1)
        reached = (np.abs(signs @ part.T) >= least).sum(axis=0)
        found[start : start + PAIRS_AT_ONCE] = (reached + extra) / (len(signs) + extra)
    return found


def _exact_signed_ranks(ranks: Reals, plus: Reals) -> Reals:
    """Return exact p-values of rank sums. Pairs with the same ranks share their distribution."""
    kinds, kind = np.unique(np.sort(ranks, axis=1), axis=0, return_inverse=True)
    found = np.empty(len(ranks))
    for number, row in enumerate(kinds):
        # Ranks of ties are halves, so sums are counted in halves.
        chances = np.ones(1)
        for step in np.round(2 * row[row > 0]).astype(int):
            both = np.zeros(len(chances) + step)
            both[: len(chances)] += chances / 2
            both[step:] += chances / 2
            chances = both
        below = np.cumsum(chances)
        pairs = kind == number
        # The distribution is symmetric: the smaller of both sums has the smaller tail.
        smaller = np.minimum(plus[pairs], row.sum() - plus[pairs])
        found[pairs] = 2 * below[np.round(2 * smaller).astype(int)]
    return np.minimum(found, 1.0)


def _normal_signed_ranks(plus: Reals, counts: Reals, ties: Reals) -> Reals:
    from scipy.special import ndtr

    mean = counts * (counts + 1) / 4
    error = np.sqrt((counts * (counts + 1) * (2 * counts + 1) - ties / 2) / 24)
    score = np.divide(np.abs(plus - mean), error, out=np.zeros(len(plus)), where=error > 0)
    return np.asarray(2 * ndtr(-score))
