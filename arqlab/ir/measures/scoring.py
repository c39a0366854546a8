"""Scores of runs: every measure for every topic of the qrels, and the means (protocol §8).

The ranking is the `order` column of a run's index and nothing else: it was made once, by
`arqlab.ir.ranking`. The label of an item that was shown but not judged is null: the item counts as
unjudged.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
import pytrec_eval

from arqlab.ir.measures.names import Measure, parse_measures
from arqlab.ir.measures.prime import JudgedRanking, Reals, prime_values, ratio, sums
from arqlab.ir.topics import natural_key

_TREC_EVAL_NAMES = {"nDCG": "ndcg", "AP": "map", "P": "P", "Bpref": "bpref", "RR": "recip_rank"}


class Scorer:
    """Qrels and measures, made ready once for many runs.

    `qrels` has the columns topic, item, label; `measures` are texts in ir_measures notation or
    Measures. `answered_only=True` leaves out the topics that the run did not answer (Task 3); else
    such a topic has 0. Raises MeasureRefusedError for a measure that cannot be computed.
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
        self._codes = codes
        label = self._judged["label"].to_numpy()
        self._ideal = JudgedRanking.of(
            self._judged["code"].to_numpy(), label, int(label.max(initial=0)) - label
        )
        self._trec_eval = _TrecEval(self._judged, [m for m in self.measures if _is_trec_evals(m)])

    def score(self, index: pl.DataFrame) -> pl.DataFrame:
        """Score one run's index (topic, item, order): rows (topic, measure, value) by measure, then
        topic.

        Every topic of the qrels has a row for every measure, 0 where the run has nothing, unless
        `answered_only`.
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
        return (
            frame.join(index, on="topic", how="semi", maintain_order="left")
            if self._answered_only
            else frame
        )

    def _values(self, index: pl.DataFrame) -> dict[str, Reals]:
        # The unjudged go before any cut, and before anything becomes a Python object.
        rows = index.select("topic", "item", "order")
        judged = rows.join(self._judged, on=["topic", "item"], maintain_order="left")
        order = judged["order"].cast(pl.Int64).to_numpy()
        run = JudgedRanking.of(judged["code"].to_numpy(), judged["label"].to_numpy(), order)
        values = self._trec_eval.values(index, self.topics)
        for measure in self.measures:
            if measure.judged_only:
                values[measure.name] = prime_values(measure, run, self._ideal, len(self.topics))
            elif measure.kind == "AR":
                values[measure.name] = self._sums(judged.filter(pl.col("order") == 1), "label")
            elif measure.kind == "Judged":
                values[measure.name] = self._share_judged(index, judged, measure.cutoff or 1)
        return values

    def _share_judged(self, index: pl.DataFrame, judged: pl.DataFrame, cutoff: int) -> Reals:
        """Return the share of the top items that was judged; of a shorter list, the share of what is
        there.
        """
        top = pl.col("order") <= cutoff
        there = self._sums(
            index.filter(top).join(self._codes, on="topic").with_columns(one=1), "one"
        )
        found = self._sums(judged.filter(top).with_columns(one=1), "one")
        return ratio(found, there)

    def _sums(self, rows: pl.DataFrame, column: str) -> Reals:
        return sums(rows["code"].to_numpy(), rows[column].to_numpy(), len(self.topics))


class _TrecEval:
    """The measures that pytrec_eval computes, one evaluator for each lowest relevant label."""

    def __init__(self, judged: pl.DataFrame, measures: Sequence[Measure]) -> None:
        self._by_level: dict[int, list[Measure]] = defaultdict(list)
        # nDCG does not look at the level: it shares another measure's pass over the run.
        any_level = next((measure.rel for measure in measures if measure.rel), 1)
        for measure in measures:
            self._by_level[measure.rel or any_level].append(measure)
        labels: dict[str, dict[str, int]] = defaultdict(dict)
        if measures:
            for topic, item, label in judged.select("topic", "item", "label").iter_rows():
                labels[topic][item] = label
        self._judged_topics = judged.select("topic").unique()
        self._evaluators = {
            level: pytrec_eval.RelevanceEvaluator(
                labels, {_call(m) for m in group}, relevance_level=level
            )
            for level, group in self._by_level.items()
        }

    def values(self, index: pl.DataFrame, topics: Sequence[str]) -> dict[str, Reals]:
        """Return each measure's values in the order of `topics`."""
        if not self._evaluators:
            return {}
        run = self._run(index)
        values: dict[str, Reals] = {}
        for level, evaluator in self._evaluators.items():
            found = evaluator.evaluate(run)
            for measure in self._by_level[level]:
                key = _call(measure).replace(".", "_")
                values[measure.name] = np.array(
                    [found.get(topic, {}).get(key, 0.0) for topic in topics]
                )
        return values

    def _run(self, index: pl.DataFrame) -> dict[str, dict[str, float]]:
        """Return the run as pytrec_eval wants it, scored by falling small integers.

        It compares scores as 32-bit floats and breaks ties by itself: whole numbers below 2**24
        leave it nothing to decide.
        """
        rows = index.join(self._judged_topics, on="topic", how="semi")
        lists = rows.group_by("topic").agg("item", score=-pl.col("order").cast(pl.Float64))
        return {
            topic: dict(zip(items, scores, strict=True))
            for topic, items, scores in lists.iter_rows()
        }


def score_frame(
    index: pl.DataFrame,
    qrels: pl.DataFrame,
    measures: Iterable[str | Measure],
    *,
    relevant_from: int = 2,
) -> pl.DataFrame:
    """Score one run: rows (topic, measure, value) for all topics of the qrels. For many runs, keep
    a Scorer.
    """
    return Scorer(qrels, measures, relevant_from=relevant_from).score(index)


def means(scores: pl.DataFrame) -> dict[str, float]:
    """Return the mean of each measure over the topics in `scores` (topic, measure, value)."""
    by_measure = scores.group_by("measure", maintain_order=True).agg(pl.col("value").mean())
    return dict(zip(by_measure["measure"], by_measure["value"], strict=True))


def ceilings(
    qrels: pl.DataFrame, measures: Iterable[str | Measure], *, relevant_from: int = 2
) -> dict[str, float]:
    """Return the best mean that any run could have: the score of the qrels themselves, best labels
    first (protocol §8).

    P'@10 stays below 1 where a topic has fewer than ten relevant items.
    """
    judged = qrels.drop_nulls("label").sort("topic", "label", descending=[False, True])
    oracle = judged.with_columns(order=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("topic"))
    return means(score_frame(oracle, qrels, measures, relevant_from=relevant_from))


def _as_measures(measures: Iterable[str | Measure], relevant_from: int) -> tuple[Measure, ...]:
    texts = [measure.name if isinstance(measure, Measure) else measure for measure in measures]
    return parse_measures(texts, relevant_from=relevant_from)


def _is_trec_evals(measure: Measure) -> bool:
    return measure.kind in _TREC_EVAL_NAMES and not measure.judged_only


def _call(measure: Measure) -> str:
    """Name the measure as pytrec_eval is asked for it: ndcg_cut.1000, map, P.10."""
    name = _TREC_EVAL_NAMES[measure.kind]
    if measure.cutoff is None:
        return name
    return f"{name}.{measure.cutoff}" if measure.kind == "P" else f"{name}_cut.{measure.cutoff}"
