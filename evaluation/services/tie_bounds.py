"""The bounds of a run's scores: what they would be if its tied items were in another order."""

from collections.abc import Sequence
from typing import NamedTuple

from arqkit.measures.names import Measure
from arqkit.measures.scoring import has_tie_bounds, means, tie_orders
from arqlab.core.caches import cached_value, key_of
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame
from evaluation.permissions import VisibleBoard
from evaluation.selectors.pending_scores import item_facts, qrels_rules
from evaluation.services.scoring import comparable_indexes, scorer_of, scoring_work
from submissions.models import Run


class MeasureBounds(NamedTuple):
    """The worst, the reported and the best mean of a measure."""

    heading: str
    worst: float
    reported: float
    best: float


class TieBounds(NamedTuple):
    """The means of a run if its tied items were in another order.

    - items, topics: the number of tied items in topics of the qrels, and of topics with any.
    - means: the bounds of each measure.
    """

    items: int
    topics: int
    means: list[MeasureBounds]


def tie_bounds(visible: VisibleBoard, run: Run) -> TieBounds | None:
    """Return the bounds of a run's scores on a board; None without ties, or if labels are hidden.

    Bounds depend on the labels of single items, so only those who may see the labels see them.
    """
    measures = [measure for measure in visible.board.measures if has_tie_bounds(measure)]
    if not measures:
        return None
    qrel_set, names = visible.qrel_set, [measure.name for measure in measures]
    key = key_of("tie-bounds", qrels_rules(qrel_set), names, item_facts([run], qrel_set))
    bounds = cached_value(
        key, lambda: _bounds(run, qrel_set, measures), work=scoring_work([run], times=3)
    )
    return bounds if bounds and bounds.items else None


def _bounds(run: Run, qrel_set: QrelSet, measures: Sequence[Measure]) -> TieBounds | None:
    """Return the bounds, or None if the index of the run cannot be read."""
    judged = judged_frame(qrel_set)
    indexes = [index for _, index in comparable_indexes([run], qrel_set, judged, scores=True)]
    if not indexes:
        return None
    orders = tie_orders(indexes[0], judged, by=qrel_set.task.protocol.order)
    if not orders.items:
        return TieBounds(0, 0, [])
    scorer = scorer_of(qrel_set, judged, measures)
    worst, reported, best = (
        means(scorer.score(index)) for index in (orders.worst, indexes[0], orders.best)
    )
    rows = [
        MeasureBounds(
            measure.heading, worst[measure.name], reported[measure.name], best[measure.name]
        )
        for measure in measures
        if measure.name in reported
    ]
    return TieBounds(orders.items, orders.topics, rows)
