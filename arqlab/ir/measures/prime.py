"""The prime measures, in columns: nDCG', AP' and P'@k of judged items only (protocol §8; 000 §4.6).

pytrec_eval is the reference and computes the measures that need the whole list, but it takes a run
as dictionaries. For a run of 100,000 lines with 45,000 judged, reading the index and leaving the
unjudged out in columns takes 8 ms; building dictionaries of the judged alone and sorting them again
in pytrec_eval takes 17 ms more, the columns here 2 ms. The prime measures need only the labels of
the judged items in order, so they are three sums over arrays; the tests hold them against
pytrec_eval to 1e-9 on random and real runs (docs/adr/0004-ranking-and-measures-are-trec-evals.md).

In every function `topic` holds numbers 0..n-1, and the rows of a topic stand together, best first.
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
    """The judged items of a ranking: topic number, label, and position 1.. among the judged items
    of the topic.
    """

    topic: Integers
    label: Integers
    position: Integers

    @classmethod
    def of(cls, topic: Integers, label: Integers, key: Integers) -> "JudgedRanking":
        """Order judged items by topic, and by `key` (lowest first) within it."""
        # One number sorts both; the stable sort takes rows that are in order already in one pass.
        rows = np.argsort((topic << 32) + key, kind="stable")
        topic, label = topic[rows], label[rows]
        return cls(topic, label, _number_within(topic))


def prime_values(measure: Measure, run: JudgedRanking, ideal: JudgedRanking, topics: int) -> Reals:
    """Return a prime measure of each topic 0..topics-1; a topic without a judged item in the run
    has
    0.

    `ideal` is all judged items of the qrels, the best label first.
    """
    if measure.kind == "nDCG":
        return ratio(_dcg(run, measure.cutoff, topics), _dcg(ideal, measure.cutoff, topics))
    rel = measure.rel or 1
    if measure.kind == "P":
        found = (run.label >= rel) & (run.position <= (measure.cutoff or 1))
        return sums(run.topic[found], found[found], topics) / float(measure.cutoff or 1)
    return _average_precision(run, ideal, rel, measure.cutoff, topics)


def _number_within(topic: Integers) -> Integers:
    """Count the rows of each topic from 1."""
    sizes = np.bincount(topic)
    first = np.cumsum(sizes) - sizes
    return np.arange(1, len(topic) + 1) - first[topic]


def _dcg(ranking: JudgedRanking, cutoff: int | None, topics: int) -> Reals:
    """Sum label / log2(position + 1) down to the cut-off, in rank order as trec_eval does: the
    digits are the same.
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
    """Add up the values of each topic 0..topics-1, in the order of the rows."""
    return np.bincount(topic, weights=values, minlength=topics).astype(np.float64, copy=False)


def ratio(numerator: Reals, denominator: Reals) -> Reals:
    """Divide; a topic that has nothing to divide by (no relevant item) has 0, as in trec_eval."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
