"""Rankings: topic and item (String) and score (Float64), each topic in the order of trec_eval."""

import numpy as np
import polars as pl

from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.measures.columns import Reals
from arqkit.ranking import with_order

RANKING = {"topic": pl.String, "item": pl.String, "score": pl.Float64}


def ranking_of_scores(
    topic: str, items: pl.Series, scores: Reals, *, limit: int = MOST_ITEMS
) -> pl.DataFrame:
    """Return the ranking of one topic: the best `limit` items with a score above 0.

    `scores` has one number for each of `items`. Ties at the limit are cut as `arqkit.ranking`
    orders them, so that the same items are retrieved however they were indexed.
    """
    listed = np.flatnonzero(scores > 0)
    if len(listed) > limit:  # sort what can be among the best, instead of a whole collection
        single = scores[listed].astype(np.float32)  # as `with_order` compares scores
        listed = listed[single >= np.partition(single, -limit)[-limit]]
    rows = {"topic": topic, "item": items.gather(listed), "score": scores[listed]}
    return best_of(pl.DataFrame(rows, schema_overrides=RANKING), limit=limit)


def best_of(ranking: pl.DataFrame, *, limit: int = MOST_ITEMS) -> pl.DataFrame:
    """Return the first `limit` items of each topic in the order of `with_order`."""
    ordered = with_order(ranking).filter(pl.col("order") <= limit)
    return ordered.select(list(RANKING))
