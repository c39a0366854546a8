"""The best and the worst order of items with tied scores.

trec_eval breaks ties by the item's id, which says nothing about the system. Sorting the tied items
by their labels, highest first, gives the best value that another order could give, and lowest first
the worst. An unjudged item counts as label 0. Both values are the exact extremes for all measures
in columns (nDCG, AP, P@k, RR and bpref, with or without judged_only and a cutoff) and for AR: none
of them falls if two adjacent items change places so that the higher label comes first. Judged@k
does not depend on labels, so these orders do not bound it.

Source: McSherry & Najork, Computing Information Retrieval Performance Measures Efficiently in the
Presence of Tied Scores, ECIR 2008.
"""

from typing import NamedTuple

import polars as pl

from arqkit.measures.names import Measure
from arqkit.ranking import AS_TREC_EVAL_READS_IT, OrderBy


class TieOrders(NamedTuple):
    """The rows of a run's index (topic, item, order) with tied items in their best and worst order.

    - items, topics: the number of tied items in topics of the qrels, and of topics with any.
    """

    best: pl.DataFrame
    worst: pl.DataFrame
    items: int
    topics: int


def has_tie_bounds(measure: Measure) -> bool:
    """Return whether the orders by label give the extremes of a measure."""
    return measure.is_columnar or measure.kind == "AR"


def tie_orders(index: pl.DataFrame, qrels: pl.DataFrame, *, by: OrderBy = "score") -> TieOrders:
    """Return the extreme orders of an index (topic, item, score, order; rank to order by rank).

    `qrels` has the columns topic, item and label. Topics without qrels are left out.
    """
    keys = ["topic", AS_TREC_EVAL_READS_IT, *(["rank"] if by == "rank" else [])]
    rows = index.join(qrels, on="topic", how="semi").with_columns(
        first=pl.col("order").min().over(keys), tied=pl.len().over(keys) > 1
    )
    single = rows.filter(~pl.col("tied")).select("topic", "item", "order")
    labels = qrels.select("topic", "item", pl.col("label").fill_null(0))
    tied = rows.filter("tied").join(labels, on=["topic", "item"], how="left")
    tied = tied.with_columns(pl.col("label").fill_null(0))
    orders = tied.sort("topic", "order")["order"]
    best, worst = (
        pl.concat(
            [
                single,
                tied.sort(
                    "topic", "first", "label", "order", descending=[False, False, high, False]
                )
                .with_columns(orders)
                .select("topic", "item", "order"),
            ]
        )
        for high in (True, False)
    )
    return TieOrders(best, worst, tied.height, tied["topic"].n_unique())
