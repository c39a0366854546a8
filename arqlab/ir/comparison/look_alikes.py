"""Runs whose rankings are nearly the same.

Rankings have the columns topic, item and `order` (1 is the top; `arqlab.ir.ranking`), without ties.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from arqlab.ir.measures.columns import Reals


def mean_jaccards(rankings: Sequence[pl.DataFrame], *, cutoff: int) -> Reals:
    """Return the Jaccard coefficients of the first `cutoff` items of all pairs of rankings.

    Entry i, j of the square array is the mean over the topics that ranking i or j answers. A topic
    that only one of them answers counts 0. A ranking without topics has 0 even on the diagonal.
    """
    count = len(rankings)
    sums, topics = np.zeros((count, count)), np.zeros((count, count))
    tops = [
        frame.filter(pl.col("order") <= cutoff).select("topic", "item", run=pl.lit(place))
        for place, frame in enumerate(rankings)
    ]
    for (_,), rows in pl.concat(tops).group_by("topic") if tops else ():
        items = np.unique(rows["item"].to_numpy(), return_inverse=True)[1]
        has = np.zeros((count, items.max() + 1), dtype=np.float32)
        has[rows["run"].to_numpy(), items] = 1
        common, sizes = has @ has.T, has.sum(axis=1)
        union = sizes[:, None] + sizes - common
        sums += np.divide(common, union, out=np.zeros_like(sums), where=union > 0)
        topics += union > 0
    return np.divide(sums, topics, out=np.zeros_like(sums), where=topics > 0)
