"""The similarity of the rankings of two runs, topic by topic.

Rankings have the columns topic, item and `order` (1 is the top; `arqkit.ranking`), without ties.
"""

import numpy as np
import polars as pl

from arqkit.measures.columns import Integers

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
    found = {}
    for topic, one, other in sizes.iter_rows():
        places = np.array(depths.get(topic, []), dtype=np.int64)
        found[topic] = _overlap(places, min(one, other), max(one, other), persistence)
    return found


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
