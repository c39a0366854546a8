"""All coefficients of agreement of some assessors, with 95% confidence intervals.

The intervals are percentiles of the coefficient over samples of the items, drawn with replacement
(Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13). One method serves all
coefficients: Zapf et al., Measuring inter-rater reliability for nominal data, BMC Medical Research
Methodology 16:93, 2016, find that this interval is valid for Fleiss' kappa and Krippendorff's
alpha, while the standard asymptotic interval of Fleiss' kappa rarely holds the true value.
The means of pairwise kappas have no asymptotic interval: pairs share assessors and items.

Assessors and topics are taken as given. Items of one topic are more alike than others, so labs
with few topics should read the intervals as the least uncertainty.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import polars as pl

from arqkit.agreement.votes import MISSING, VoteTable, judgments_only
from arqkit.labels import LabelScale
from arqkit.measures.columns import Reals

Level = Literal["nominal", "ordinal"]
"""Whether labels are only equal or different, or have an order and so a distance."""

RESAMPLES = 1000
"""How often the items are drawn for the intervals."""

TAILS = (0.025, 0.975)
"""The ends of a 95% interval."""


def pair_kappa_of(table: VoteTable, first: int, second: int, weights: Reals) -> Reals:
    """Return Cohen's kappa of the assessors in two columns of the table."""
    codes, size = table.codes[:, [first, second]], len(table.labels)
    both = (codes != MISSING).all(axis=1)
    cells = np.eye(size * size)[codes[both] @ np.array([size, 1])]
    confusion = (cells.T @ weights[both]).reshape(size, size, weights.shape[1])
    items = confusion.sum(axis=(0, 1))
    chance = (confusion.sum(axis=0) * confusion.sum(axis=1)).sum(axis=0)
    return _quotient(items * np.trace(confusion) - chance, items**2 - chance)


def kappas_of(table: VoteTable, weights: Reals) -> Reals:
    """Return Cohen's kappa of each assessor (row) with every other assessor (column).

    The diagonal is NaN.
    """
    size = len(table.assessors)
    kappas = np.full((size, size, weights.shape[1]), np.nan)
    for first, second in combinations(range(size), 2):
        kappas[first, second] = kappas[second, first] = pair_kappa_of(table, first, second, weights)
    return kappas


def mean_over(values: Reals) -> Reals:
    """Return the means over the second axis from the end, without undefined values."""
    defined = ~np.isnan(values)
    return _quotient(np.where(defined, values, 0.0).sum(axis=-2), defined.sum(axis=-2))


def fleiss_of(table: VoteTable, weights: Reals) -> Reals:
    """Return Fleiss' kappa of all items with two or more votes.

    Fleiss' formula needs the same number of votes on every item, but not the same assessors. Where
    votes are missing, this is its extension by Gwet (Handbook of Inter-Rater Reliability, 2014):
    agreement and the frequency of the labels are means over items, and each item has the same
    weight. It equals Fleiss' formula where all items have the same number of votes.
    """
    items = weights.sum(axis=0)
    shares = table.counts / table.sizes[:, None]
    chance = ((shares.T @ weights) ** 2).sum(axis=0)
    return _quotient(items * (_agreeing(table) @ weights) - chance, items**2 - chance)


def alpha_of(table: VoteTable, weights: Reals, level: Level) -> Reals:
    """Return Krippendorff's alpha: 1 - observed / expected disagreement."""
    counts, size = table.counts, len(table.labels)
    pairs = counts[:, :, None] * counts[:, None, :] / (table.sizes - 1)[:, None, None]
    # Pairs of a vote with itself are in the diagonal, where labels do not differ.
    sums = pairs.reshape(len(counts), size * size).T @ weights
    coincidences = sums.reshape(size, size, weights.shape[1])
    totals = counts.T @ weights
    differences = _differences(totals, level)
    observed = (coincidences * differences).sum(axis=(0, 1))
    expected = (totals[:, None] * totals[None, :] * differences).sum(axis=(0, 1))
    return _quotient(expected - observed * (totals.sum(axis=0) - 1), expected)


def observed_of(table: VoteTable, weights: Reals) -> Reals:
    """Return the percent agreement as a fraction: the mean over items of their agreeing pairs."""
    return _quotient(_agreeing(table) @ weights, weights.sum(axis=0))


def _agreeing(table: VoteTable) -> Reals:
    """Return the fraction of agreeing pairs of votes of each pattern."""
    agreeing = (table.counts * (table.counts - 1)).sum(axis=1)
    fractions: Reals = agreeing / (table.sizes * (table.sizes - 1))
    return fractions


def _differences(totals: Reals, level: Level) -> Reals:
    """Return the squared difference of each two labels, given how often each was used."""
    if level == "nominal":
        return (1 - np.eye(len(totals)))[:, :, None]
    # The sum of all uses from one label to the other, half of the two at the ends, is
    # the difference of their mean ranks.
    ranks = np.cumsum(totals, axis=0) - totals / 2
    differences: Reals = (ranks[:, None] - ranks[None, :]) ** 2
    return differences


def _quotient(top: Reals, bottom: Reals) -> Reals:
    quotients = np.full(np.shape(bottom), np.nan)
    np.divide(top, bottom, out=quotients, where=np.asarray(bottom) != 0)
    return quotients


def first_of(values: Reals) -> float | None:
    """Return the first of some values, or None if it is undefined."""
    return None if np.isnan(values[0]) else float(values[0])


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient and the ends of its 95% confidence interval.

    The value is None if the coefficient is undefined. The ends are None if it is, or if it has the
    same value in all samples of the items (one item, or no disagreement at all): such samples do
    not show how uncertain it is. Samples in which the coefficient is undefined do not count.
    """

    value: float | None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: Reals) -> "Estimate":
        """Return the estimate of a value and its values in samples of the items."""
        if np.isnan(values[0]):
            return cls(None)
        samples = values[~np.isnan(values)][1:]
        if np.allclose(samples, values[0], rtol=0, atol=1e-9):
            return cls(float(values[0]))
        low, high = np.quantile(samples, TAILS)
        return cls(float(values[0]), float(low), float(high))


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The coefficients of some assessors for labels as they are, or for binary labels.

    - assessors: mean pairwise Cohen's kappa of each assessor with the others.
    - pairs: Cohen's kappa of each two assessors, in alphabetical order.
    - total: the mean of `assessors` ("Total" in 000 figures 4 and 5).
    - fleiss: Fleiss' kappa.
    - nominal, ordinal: Krippendorff's alpha.
    - observed: percent agreement as a fraction.
    """

    assessors: Mapping[str, Estimate]
    pairs: Mapping[tuple[str, str], float | None]
    total: Estimate
    fleiss: Estimate
    nominal: Estimate
    ordinal: Estimate
    observed: Estimate


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of some assessors in the labels of a scale, and in relevance.

    - judged: the items that each assessor and somebody else judged.
    - items, votes: the items with two or more votes, and their votes.
    - graded: for all judgments of the scale (four-way in ARQMath).
    - binary: for relevant and not relevant (H+M in ARQMath).
    """

    scale: LabelScale
    relevant_from: int
    judged: Mapping[str, int]
    items: int
    votes: int
    graded: Coefficients
    binary: Coefficients


def agreement_of(
    votes: pl.DataFrame,
    *,
    scale: LabelScale,
    relevant_from: int,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Return the agreement of the assessors of votes; labels that are no judgments do not count.

    The result is the same for the same votes in any order, and for the same seed.
    """
    table = VoteTable.of(judgments_only(votes, scale))
    weights = table.resampled(resamples, seed=seed)
    return Agreement(
        scale=scale,
        relevant_from=relevant_from,
        judged={name: table.judged_by(place) for place, name in enumerate(table.assessors)},
        items=int(table.items.sum()),
        votes=int(table.items @ table.sizes),
        graded=_coefficients(table, weights),
        binary=_coefficients(table.binarized(relevant_from), weights),
    )


def _coefficients(table: VoteTable, weights: Reals) -> Coefficients:
    kappas = kappas_of(table, weights)
    means = mean_over(kappas)
    pairs = combinations(range(len(table.assessors)), 2)
    names = combinations(table.assessors, 2)
    return Coefficients(
        assessors=dict(zip(table.assessors, map(Estimate.of, means), strict=True)),
        pairs=dict(zip(names, (first_of(kappas[pair]) for pair in pairs), strict=True)),
        total=Estimate.of(mean_over(means)),
        fleiss=Estimate.of(fleiss_of(table, weights)),
        nominal=Estimate.of(alpha_of(table, weights, "nominal")),
        ordinal=Estimate.of(alpha_of(table, weights, "ordinal")),
        observed=Estimate.of(observed_of(table, weights)),
    )
