"""Scores of runs: every measure for every topic of the qrels, and the means (protocol §8).

The ranking is the `order` column of a run's index, which `arqkit.ranking` computed. An item
whose label is not a judgment has a null label and counts as unjudged.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from arqkit.measures.columns import JudgedRanking, Reals, column_values, ratio, sums
from arqkit.measures.names import (
    COUNTS_OF_QRELS,
    Measure,
    ProvidedMeasures,
    parse_measure,
    parse_measures,
)
from arqkit.ranking import AS_TREC_EVAL_READS_IT, OrderBy
from arqkit.topics import natural_key

_KEY = (pl.col("topic").hash(seed=1) * 31 + pl.col("item").hash(seed=2)).alias("key")


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


class Scorer:
    """Qrels and measures, prepared once for many runs.

    `qrels` has the columns topic, item, label; `measures` are texts in ir_measures notation or
    Measures; those that need texts are left out. `answered_only=True` leaves out topics that the
    run did not answer (Task 3), but for counts of the qrels; otherwise such a topic has 0.
    Raises MeasureRefusedError for a measure that cannot be computed.
    """

    def __init__(
        self,
        qrels: pl.DataFrame,
        measures: Iterable[str | Measure],
        *,
        relevant_from: int = 2,
        answered_only: bool = False,
    ) -> None:
        self.measures = _as_measures(measures, relevant_from)
        self.topics: tuple[str, ...] = tuple(
            sorted(qrels["topic"].unique().to_list(), key=natural_key)
        )
        self._answered_only = answered_only
        codes = pl.DataFrame(
            {"topic": self.topics, "code": range(len(self.topics))},
            schema={"topic": pl.String, "code": pl.Int64},
        )
        judged = qrels.drop_nulls("label").join(codes, on="topic")
        self._judged = judged.select("topic", "item", "code", pl.col("label").cast(pl.Int64))
        self._keyed = self._judged.with_columns(_KEY)
        self._codes = codes
        label = self._judged["label"].to_numpy()
        self._ideal = JudgedRanking.of(
            self._judged["code"].to_numpy(), label, int(label.max(initial=0)) - label
        ).without_unjudged()
        self._provided = ProvidedMeasures(
            self._judged,
            [m.name for m in self.measures if not (m.is_columnar or m.kind in ("AR", "Judged"))],
            topics=len(self.topics),
        )

    def score(self, index: pl.DataFrame) -> pl.DataFrame:
        """Score one run's index (topic, item, order).

        The result has the columns topic, measure and value, by measure, then by topic. Unless
        `answered_only` is set, every topic of the qrels has a row for every measure, with 0 if the
        run has no items.
        """
        values = self._values(index)
        frame = pl.DataFrame(
            {
                "topic": list(self.topics) * len(self.measures),
                "measure": [measure.name for measure in self.measures for _ in self.topics],
                "value": np.concatenate([values[m.name] for m in self.measures])
                if self.measures
                else [],
            },
            schema={"topic": pl.String, "measure": pl.String, "value": pl.Float64},
        )
        if not self._answered_only:
            return frame
        is_answered = pl.col("topic").is_in(index["topic"].unique().to_list())
        counts = [m.name for m in self.measures if m.kind in COUNTS_OF_QRELS]
        return frame.filter(is_answered | pl.col("measure").is_in(counts))

    def _values(self, index: pl.DataFrame) -> dict[str, Reals]:
        # Unjudged items are removed before any cutoff, and before rows become Python objects.
        rows = index.select("topic", "item", "order")
        judged = self._only_judged(rows)
        order = judged["order"].cast(pl.Int64).to_numpy()
        run = JudgedRanking.of(judged["code"].to_numpy(), judged["label"].to_numpy(), order)
        prime = run.without_unjudged()
        values = self._provided.values(rows)
        for measure in self.measures:
            if measure.is_columnar:
                ranking = prime if measure.judged_only else run
                values[measure.name] = column_values(
                    measure, ranking, self._ideal, len(self.topics)
                )
            elif measure.kind == "AR":
                values[measure.name] = self._sums(judged.filter(pl.col("order") == 1), "label")
            elif measure.kind == "Judged":
                values[measure.name] = self._share_judged(rows, judged, measure.cutoff)
        return values

    def _only_judged(self, rows: pl.DataFrame) -> pl.DataFrame:
        # Joining by one number takes half the time of joining by two strings. The filter removes
        # different items with the same hash.
        judged = rows.with_columns(_KEY).join(self._keyed, on="key", maintain_order="left")
        return judged.filter(
            pl.col("topic") == pl.col("topic_right"), pl.col("item") == pl.col("item_right")
        )

    def _share_judged(self, index: pl.DataFrame, judged: pl.DataFrame, cutoff: int | None) -> Reals:
        top = pl.lit(True) if cutoff is None else pl.col("order") <= cutoff
        counts = self._sums(
            index.filter(top).join(self._codes, on="topic").with_columns(one=1), "one"
        )
        judged_counts = self._sums(judged.filter(top).with_columns(one=1), "one")
        return ratio(judged_counts, counts)

    def _sums(self, rows: pl.DataFrame, column: str) -> Reals:
        return sums(rows["code"].to_numpy(), rows[column].to_numpy(), len(self.topics))


def score_frame(
    index: pl.DataFrame,
    qrels: pl.DataFrame,
    measures: Iterable[str | Measure],
    *,
    relevant_from: int = 2,
) -> pl.DataFrame:
    """Score one run: topic, measure and value for all topics of the qrels.

    For many runs, reuse a Scorer.
    """
    return Scorer(qrels, measures, relevant_from=relevant_from).score(index)


def means(scores: pl.DataFrame) -> dict[str, float]:
    """Return the mean of each measure over the topics in `scores` (topic, measure, value).

    Counts, such as NumRet, are summed as in trec_eval.
    """
    by_measure = scores.group_by("measure", maintain_order=True).agg(
        pl.col("value").mean(), total=pl.col("value").sum()
    )
    return {
        name: total if parse_measure(name).is_count else mean
        for name, mean, total in by_measure.iter_rows()
    }


def ceilings(
    qrels: pl.DataFrame, measures: Iterable[str | Measure], *, relevant_from: int = 2
) -> dict[str, float]:
    """Return the best possible means: the scores of the qrels, highest labels first (protocol §8).

    Counts have none. P'@10 stays below 1 if a topic has fewer than ten relevant items. Set measures
    (SetP, SetF) are best without items that are not relevant.
    """
    judged = qrels.drop_nulls("label").sort("topic", "label", descending=[False, True])
    oracle = judged.with_columns(order=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("topic"))
    rated = [m for m in _as_measures(measures, relevant_from) if not m.is_count]
    best = means(score_frame(oracle, qrels, rated))
    for measure in rated:
        if measure.kind.startswith("Set"):
            relevant = oracle.filter(pl.col("label") >= (measure.rel or 1))
            best |= means(score_frame(relevant, qrels, [measure]))
    return best


def _as_measures(measures: Iterable[str | Measure], relevant_from: int) -> tuple[Measure, ...]:
    texts = [measure.name if isinstance(measure, Measure) else measure for measure in measures]
    parsed = parse_measures(texts, relevant_from=relevant_from)
    return tuple(measure for measure in parsed if not measure.needs_texts)
