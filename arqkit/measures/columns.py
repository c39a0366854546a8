"""Measures that need only the judged items of a ranking, in columns (protocol §8; 000 §4.6).

These are nDCG, AP, P@k, RR, RBP and bpref, and of equation search uMAP, ranking score and 1-NN
accuracy (002). pytrec_eval is the reference for most of them, but it takes a run as dictionaries.
For a run of 100,000 rows with 45,000 judged items, reading the index and joining it with the qrels
takes 8 ms; building dictionaries for pytrec_eval takes more than ten times as long.
An unjudged item never adds anything to these measures: in a whole ranking it only moves the items
below it down, and for the prime measures it is removed. So each is a sum over the judged items and
their positions. Tests compare them with pytrec_eval to 1e-9 on random and real runs
(docs/adr/0004-ranking-and-measures-are-trec-evals.md).

In every function, `topic` has the numbers 0 to n-1, and the rows of a topic are adjacent, best
first.
"""

from dataclasses import dataclass, replace

import numpy as np
from ir_measures import parse_measure as parse
from numpy.typing import NDArray

from arqkit.measures.names import COUNTS_OF_QRELS, Measure

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JudgedRanking:
    """The judged items of a ranking: topic number, label, and position from 1.

    The position is the item's place in the whole ranking, or among the judged items.
    """

    topic: Integers
    label: Integers
    position: Integers

    @classmethod
    def of(cls, topic: Integers, label: Integers, order: Integers) -> "JudgedRanking":
        """Sort judged items by topic, then by `order`, lowest first, and keep it as position."""
        # Sort by one number for both; the stable sort handles sorted rows in one pass.
        rows = np.argsort((topic << 32) + order, kind="stable")
        return cls(topic[rows], label[rows], order[rows])

    def without_unjudged(self) -> "JudgedRanking":
        """Return the ranking with the positions among the judged items, for prime measures."""
        return replace(self, position=_number_within(self.topic))


def column_values(measure: Measure, run: JudgedRanking, ideal: JudgedRanking, topics: int) -> Reals:
    """Return a measure of each topic; 0 for a topic without judged items in the run.

    `run` has the positions that the measure counts. `ideal` has all judged items of the qrels,
    highest label first, with their positions. The measure `is_columnar`.
    """
    rel, cutoff = measure.rel or 1, measure.cutoff or np.iinfo(np.int64).max
    if measure.kind == "nDCG":
        return ratio(_dcg(run, cutoff, topics), _dcg(ideal, cutoff, topics))
    relevant = _of_labels(ideal, ideal.label >= rel, topics)
    if measure.kind in COUNTS_OF_QRELS:  # of all topics, as by `trec_eval -c`
        return relevant if measure.kind == "NumRel" else np.ones(topics)
    if measure.kind in ("Bpref", "RankingScore"):
        others = _of_labels(ideal, ideal.label < rel, topics)
        preferred = _bpref if measure.kind == "Bpref" else _ranking_score
        return preferred(run, relevant, others, rel)
    if measure.kind == "OneNN":
        nearest = (_number_within(run.topic) == 1) & (run.label >= rel)
        return sums(run.topic[nearest], nearest[nearest], topics)
    is_hit = (run.label >= rel) & (run.position <= cutoff)
    topic, position = run.topic[is_hit], run.position[is_hit]
    if measure.kind == "P":
        return sums(topic, is_hit[is_hit], topics) / float(cutoff)
    if measure.kind == "RBP":  # Moffat & Zobel 2008, equation 4
        persistence = float(parse(measure.name)["p"])
        return sums(topic, (1 - persistence) * persistence ** (position - 1), topics)
    place = _number_within(topic)
    if measure.kind == "RR":
        first = place == 1
        return sums(topic[first], 1 / position[first], topics)
    precisions = sums(topic, place / position, topics)
    return precisions if measure.kind == "uMAP" else ratio(precisions, relevant)


def _number_within(topic: Integers) -> Integers:
    sizes = np.bincount(topic)
    first = np.cumsum(sizes) - sizes
    return np.arange(1, len(topic) + 1) - first[topic]


def _dcg(ranking: JudgedRanking, cutoff: int, topics: int) -> Reals:
    """Sum label / log2(position + 1) down to the cutoff, in rank order as trec_eval does."""
    has_gain = (ranking.label > 0) & (ranking.position <= cutoff)
    gains = ranking.label[has_gain] / np.log2(ranking.position[has_gain] + 1)
    return sums(ranking.topic[has_gain], gains, topics)


def _of_labels(ideal: JudgedRanking, is_counted: NDArray[np.bool_], topics: int) -> Reals:
    return sums(ideal.topic[is_counted], is_counted[is_counted], topics)


def _bpref(run: JudgedRanking, relevant: Reals, others: Reals, rel: int) -> Reals:
    """Return bpref as trec_eval 9 computes it (`m_bpref.c`).

    Each relevant item counts 1, less the share of judged items above it that are not relevant, of
    which at most as many count as there are relevant items.
    """
    topic, above = _others_above(run, rel)
    lost = ratio(np.minimum(above, relevant[topic]), np.minimum(relevant, others)[topic])
    return ratio(sums(topic, 1 - lost, len(relevant)), relevant)


def _ranking_score(run: JudgedRanking, relevant: Reals, others: Reals, rel: int) -> Reals:
    """Return the share of the pairs of a relevant item and another that are in this order: the
    triples of a topic, a positive and a negative example (002 §5.2, formula 3).

    A topic without such a pair has 0. Two items that the run lacks are in no order, as two equal
    similarities are in the formula.
    """
    topic, above = _others_above(run, rel)
    return ratio(sums(topic, others[topic] - above, len(relevant)), relevant * others)


def _others_above(run: JudgedRanking, rel: int) -> tuple[Integers, Integers]:
    """Return, of each relevant item of the run, its topic and how many judged items above it are
    not relevant.
    """
    is_relevant = run.label >= rel
    topic = run.topic[is_relevant]
    return topic, _number_within(run.topic)[is_relevant] - _number_within(topic)


def sums(topic: Integers, values: NDArray[np.bool_ | np.number], topics: int) -> Reals:
    """Return the sum of the values of each topic, added in the order of the rows."""
    return np.bincount(topic, weights=values, minlength=topics).astype(np.float64, copy=False)


def ratio(numerator: Reals, denominator: Reals) -> Reals:
    """Divide; a topic without relevant items has 0, as in trec_eval."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
