"""Rankings: topic and item (String) and score (Float64), each topic in the order of trec_eval."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.measures.columns import Reals
from arqkit.ranking import with_order

RANKING = {"topic": pl.String, "item": pl.String, "score": pl.Float64}

RRF_CONSTANT = 60
"""What is added to ranks, so that the first of them do not decide alone (Cormack et al.)."""


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


def min_max_average(rankings: Sequence[pl.DataFrame], *, limit: int = MOST_ITEMS) -> pl.DataFrame:
    """Return the ranking by the unweighted average of normalized scores (004 §4.3).

    In each ranking, the scores of a topic are normalized to 0 to 1. If all are equal, they become
    1. An item that a ranking does not list has 0 in it.
    """
    score, least = pl.col("score"), pl.col("score").min().over("topic")
    spread = pl.col("score").max().over("topic") - least
    normal = pl.when(spread > 0).then((score - least) / spread).otherwise(1.0)
    return _sum([ranking.with_columns(score=normal / len(rankings)) for ranking in rankings], limit)


def reciprocal_rank_fusion(
    rankings: Sequence[pl.DataFrame], *, limit: int = MOST_ITEMS
) -> pl.DataFrame:
    """Return the ranking by the sum of 1 / (60 + rank); the first rank is 1.

    Source: Cormack, Clarke & Büttcher, Reciprocal Rank Fusion, SIGIR 2009.
    """
    reciprocal = 1 / (RRF_CONSTANT + pl.col("order"))
    return _sum([with_order(ranking).with_columns(score=reciprocal) for ranking in rankings], limit)


def _sum(rankings: Sequence[pl.DataFrame], limit: int) -> pl.DataFrame:
    rows = pl.concat([ranking.select("topic", "item", "score") for ranking in rankings])
    return best_of(rows.group_by("topic", "item").agg(pl.col("score").sum()), limit=limit)
