"""Coefficients of agreement: Cohen's and Fleiss' kappa, Krippendorff's alpha.

Sources: Cohen, A coefficient of agreement for nominal scales, 1960; Fleiss, Measuring nominal scale
agreement among many raters, 1971; Krippendorff, Content Analysis, 2nd ed. 2004, chapter 11, and
Computing Krippendorff's alpha-reliability, 2011. 000 §4.5 and 004 §4.5 report mean pairwise Cohen's
kappa of each assessor with the others, and Fleiss' kappa.

All coefficients are 1 for identical labels and about 0 for labels by chance. They are undefined
(None; in arrays NaN) without common items, and where everybody used the same single label: chance
then explains all agreement, and the formulas divide 0 by 0.

The functions ending in `_of` compute a coefficient for every column of `weights`, the number of
items with each pattern of a VoteTable.
"""

from itertools import combinations
from typing import Literal

import numpy as np
import polars as pl

from arqkit.agreement.votes import MISSING, VoteTable
from arqkit.measures.columns import Reals

Level = Literal["nominal", "ordinal"]
"""Whether labels are only equal or different, or have an order and so a distance."""


def cohen_kappa(votes: pl.DataFrame, one: str, other: str) -> float | None:
    """Return Cohen's kappa of two assessors on the items that both judged."""
    table = VoteTable.of(votes.filter(pl.col("assessor").is_in([one, other])))
    if len(table.assessors) < 2:
        return None
    return first_of(pair_kappa_of(table, 0, 1, table.weights()))


def mean_pairwise_kappas(votes: pl.DataFrame) -> dict[str, float | None]:
    """Return each assessor's mean Cohen's kappa with the others (004 figures 3 and 4).

    Others with whom it is undefined do not count. Every other assessor has the same weight, however
    many items they have in common.
    """
    table = VoteTable.of(votes)
    kappas = mean_over(kappas_of(table, table.weights()))
    return {name: first_of(row) for name, row in zip(table.assessors, kappas, strict=True)}


def fleiss_kappa(votes: pl.DataFrame) -> float | None:
    """Return Fleiss' kappa of all items with two or more votes.

    Fleiss' formula needs the same number of votes on every item, but not the same assessors. Where
    votes are missing, this is its extension by Gwet (Handbook of Inter-Rater Reliability, 2014):
    agreement and the frequency of the labels are means over items, and each item has the same
    weight. It equals Fleiss' formula where all items have the same number of votes.
    """
    table = VoteTable.of(votes)
    return first_of(fleiss_of(table, table.weights()))


def krippendorff_alpha(votes: pl.DataFrame, level: Level = "nominal") -> float | None:
    """Return Krippendorff's alpha of all items with two or more votes."""
    table = VoteTable.of(votes)
    return first_of(alpha_of(table, table.weights(), level))


def observed_agreement(votes: pl.DataFrame) -> float | None:
    """Return the percent agreement as a fraction: the mean over items of their agreeing pairs.

    For two assessors, this is the fraction of common items with the same label.
    """
    table = VoteTable.of(votes)
    return first_of(observed_of(table, table.weights()))


def pair_kappa_of(table: VoteTable, one: int, other: int, weights: Reals) -> Reals:
    """Return Cohen's kappa of the assessors in two columns of the table."""
    codes, size = table.codes[:, [one, other]], len(table.labels)
    both = (codes != MISSING).all(axis=1)
    cells = np.eye(size * size)[codes[both] @ np.array([size, 1])]
    confusion = (cells.T @ weights[both]).reshape(size, size, weights.shape[1])
    items = confusion.sum(axis=(0, 1))
    chance = (confusion.sum(axis=0) * confusion.sum(axis=1)).sum(axis=0)
    return _quotient(items * np.trace(confusion) - chance, items**2 - chance)


def kappas_of(table: VoteTable, weights: Reals) -> Reals:
    """Return Cohen's kappa of each assessor (row) with each other one (column).

    It is NaN for an assessor with themselves.
    """
    size = len(table.assessors)
    kappas = np.full((size, size, weights.shape[1]), np.nan)
    for one, other in combinations(range(size), 2):
        kappas[one, other] = kappas[other, one] = pair_kappa_of(table, one, other, weights)
    return kappas


def mean_over(values: Reals) -> Reals:
    """Return the means over the second axis from the end, without undefined values."""
    defined = ~np.isnan(values)
    return _quotient(np.where(defined, values, 0.0).sum(axis=-2), defined.sum(axis=-2))


def fleiss_of(table: VoteTable, weights: Reals) -> Reals:
    """Return Fleiss' kappa."""
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
    """Return the mean over items of the fraction of agreeing pairs of votes."""
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
    """Return quotients, NaN where the divisor is 0."""
    quotients = np.full(np.shape(bottom), np.nan)
    np.divide(top, bottom, out=quotients, where=np.asarray(bottom) != 0)
    return quotients


def first_of(values: Reals) -> float | None:
    """Return the first of some values, or None if it is undefined."""
    return None if np.isnan(values[0]) else float(values[0])
