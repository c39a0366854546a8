"""The prime measures nDCG', AP' and P'@k of judged items only (protocol §8; 000 §4.6), in columns.

pytrec_eval is the reference and computes the measures that need the whole list, but it takes a run
as dictionaries. For a run of 100,000 rows with 45,000 judged items, reading the index and removing
the unjudged items takes 8 ms. Building dictionaries of the judged items and sorting them again in
pytrec_eval takes 17 ms more; the columns here take 2 ms. The prime measures need only the labels of
the judged items in order, so they are three sums over arrays. Tests compare them with pytrec_eval
to 1e-9 on random and real runs (docs/adr/0004-ranking-and-measures-are-trec-evals.md).

In every function, `topic` has the numbers 0 to n-1, and the rows of a topic are adjacent, best
first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arqlab.ir.measures.names import Measure

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JudgedRanking:
    """The judged items of a ranking: topic number, label, and position among judged items."""

    topic: Integers
    label: Integers
    position: Integers

    @classmethod
    def of(cls, topic: Integers, label: Integers, key: Integers) -> "JudgedRanking":
        """Sort judged items by topic, then by `key`, lowest first."""
        # Sort by one number for both; the stable sort handles sorted rows in one pass.
        rows = np.argsort((topic << 32) + key, kind="stable")
        topic, label = topic[rows], label[rows]
        return cls(topic, label, _number_within(topic))


def prime_values(measure: Measure, run: JudgedRanking, ideal: JudgedRanking, topics: int) -> Reals:
    """Return a prime measure of each topic; 0 for a topic without judged items in the run.

    `ideal` has all judged items of the qrels, highest label first.
    """
    if measure.kind == "nDCG":
        return ratio(_dcg(run, measure.cutoff, topics), _dcg(ideal, measure.cutoff, topics))
    rel = measure.rel or 1
    if measure.kind == "P":
        found = (run.label >= rel) & (run.position <= (measure.cutoff or 1))
        return sums(run.topic[found], found[found], topics) / float(measure.cutoff or 1)
    return _average_precision(run, ideal, rel, measure.cutoff, topics)


def _number_within(topic: Integers) -> Integers:
    """Number the rows of each topic from 1."""
    sizes = np.bincount(topic)
    first = np.cumsum(sizes) - sizes
    return np.arange(1, len(topic) + 1) - first[topic]


def _dcg(ranking: JudgedRanking, cutoff: int | None, topics: int) -> Reals:
    """Sum label / log2(position + 1) down to the cutoff.

    Summing in rank order, as trec_eval does, gives the same digits.
    """
    kept = (ranking.label > 0) & (ranking.position <= (cutoff or np.iinfo(np.int64).max))
    gains = ranking.label[kept] / np.log2(ranking.position[kept] + 1)
    return sums(ranking.topic[kept], gains, topics)


def _average_precision(
    run: JudgedRanking, ideal: JudgedRanking, rel: int, cutoff: int | None, topics: int
) -> Reals:
    kept = (run.label >= rel) & (run.position <= (cutoff or np.iinfo(np.int64).max))
    topic = run.topic[kept]
    precisions = sums(topic, _number_within(topic) / run.position[kept], topics)
    is_relevant = ideal.label >= rel
    return ratio(precisions, sums(ideal.topic[is_relevant], is_relevant[is_relevant], topics))


def sums(topic: Integers, values: NDArray[Any], topics: int) -> Reals:
    """Return the sum of the values of each topic, added in the order of the rows."""
    return np.bincount(topic, weights=values, minlength=topics).astype(np.float64, copy=False)


def ratio(numerator: Reals, denominator: Reals) -> Reals:
    """Divide; a topic without relevant items has 0, as in trec_eval."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
