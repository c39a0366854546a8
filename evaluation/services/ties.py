"""The best and worst scores of a run with tied items. Nothing is stored; cached by contents."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from arqkit.measures.names import Measure
from arqkit.measures.scoring import Scorer, has_tie_bounds, means, tie_orders
from arqlab.core.caches import computed_values
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame
from evaluation.permissions import VisibleBoard
from evaluation.selectors.pending_scores import formulas_index_of, item_identity
from evaluation.services.effects import comparable_indexes
from submissions.models import Run

KEPT = 24 * 60 * 60  # seconds
_RULES = 1
"""The version of the computation. Increase it with every change, so that nothing old is read."""


class TieBounds(NamedTuple):
    """The means of a run if its tied items were in another order.

    - items, topics: the number of tied items in topics of the qrels, and of topics with any.
    - means: for each measure its name and the worst, the reported and the best mean.
    """

    items: int
    topics: int
    means: list[tuple[str, float, float, float]]


def tie_bounds(shown: VisibleBoard, run: Run) -> TieBounds | None:
    """Return the bounds of a run's scores on a board; None without ties, or if labels are hidden.

    Bounds depend on the labels of single items, so only those who may see the labels see them.
    """
    measures = [measure for measure in shown.board.measures if has_tie_bounds(measure)]
    if not measures:
        return None
    key = _key(run, shown.qrel_set, measures)
    found: TieBounds | None = computed_values.get(key)
    if found is None and (found := _bounds(run, shown.qrel_set, measures)):
        computed_values.set(key, found, timeout=KEPT)
    return found if found and found.items else None


def _key(run: Run, qrel_set: QrelSet, measures: Sequence[Measure]) -> str:
    identity = item_identity(run, qrel_set, formulas_index=formulas_index_of(qrel_set))
    protocol = qrel_set.task.protocol
    scale = qrel_set.label_scale.unjudged
    qrels = (qrel_set.pk, qrel_set.sha256, qrel_set.items, qrel_set.relevant_from, scale)
    rules = (_RULES, qrels, protocol.order, protocol.answered_only, [one.name for one in measures])
    contents = repr((rules, run.pk, run.index.name, identity))
    return f"tie-bounds:{sha256(contents.encode()).hexdigest()}"


def _bounds(run: Run, qrel_set: QrelSet, measures: Sequence[Measure]) -> TieBounds | None:
    """Return the bounds, or None if the index of the run cannot be read."""
    judged, protocol = judged_frame(qrel_set), qrel_set.task.protocol
    indexes = [index for _, index in comparable_indexes([run], qrel_set, judged, scores=True)]
    if not indexes:
        return None
    orders = tie_orders(indexes[0], judged, by=protocol.order)
    if not orders.items:
        return TieBounds(0, 0, [])
    scorer = Scorer(
        judged,
        measures,
        relevant_from=qrel_set.relevant_from,
        answered_only=protocol.answered_only,
    )
    worst, reported, best = (
        means(scorer.score(index)) for index in (orders.worst, indexes[0], orders.best)
    )
    rows = [
        (one.heading, worst[one.name], reported[one.name], best[one.name])
        for one in measures
        if one.name in reported
    ]
    return TieBounds(orders.items, orders.topics, rows)
