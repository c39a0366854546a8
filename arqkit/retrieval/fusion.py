"""Combinations of rankings (topic, item, score): averages of scores, and fusion of ranks."""

from collections.abc import Sequence

import polars as pl

from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.ranking import with_order
from arqkit.retrieval.rankings import best_of

RRF_CONSTANT = 60
"""What is added to ranks, so that the first of them do not decide alone (Cormack et al.)."""


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
