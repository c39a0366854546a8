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

import numpy as np
import polars as pl

from arqkit.agreement.coefficients import (
    alpha_of,
    first_of,
    fleiss_of,
    kappas_of,
    mean_over,
    observed_of,
)
from arqkit.agreement.votes import VoteTable, judgments_only
from arqkit.labels import LabelScale
from arqkit.measures.columns import Reals

RESAMPLES = 1000
"""How often the items are drawn for the intervals."""

TAILS = (0.025, 0.975)
"""The ends of a 95% interval."""


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
