"""Corrections of the p-values of a family of tests.

Sources: Holm, A simple sequentially rejective multiple test procedure, 1979; Benjamini & Hochberg,
Controlling the false discovery rate, 1995.
"""

import numpy as np

from arqkit.measures.columns import Reals


def holm(values: Reals) -> Reals:
    """Return p-values adjusted by Holm, which controls the probability of any false rejection."""
    order = np.argsort(values)
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return adjusted


def benjamini_hochberg(values: Reals) -> Reals:
    """Return p-values adjusted by Benjamini and Hochberg: the rate of false rejections."""
    order = np.argsort(values)[::-1]
    factors = len(values) / np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.minimum.accumulate(values[order] * factors), 1.0)
    return adjusted
