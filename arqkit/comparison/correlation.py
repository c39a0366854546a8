"""The correlation of measures over runs: Pearson's r and Kendall's tau-b (004 Table 6).

Values are a matrix of runs by measures. NaN is a missing value; a pair of measures is compared over
the runs that have both. A coefficient is NaN if one of the measures has a single value.
"""

from typing import NamedTuple

import numpy as np

from arqkit.comparison.differences import DECIMALS
from arqkit.measures.columns import Integers, Reals


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
    for one in range(size):
        for other in range(one, size):
            pair = rounded[:, [one, other]]
            first, second = pair[~np.isnan(pair).any(axis=1)].T
            places = [one, other], [other, one]
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
