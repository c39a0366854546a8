"""The spread of the scores of runs over topics.

It is cached by the runs and their means, which change with the scores.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

import numpy as np

from arqkit.leaderboard import Board, BoardRun, by_mean
from arqkit.measures.names import Measure
from arqlab.core.caches import computed_values
from assessment.models import QrelSet
from evaluation.selectors.comparison import topic_matrix

Figures = tuple[int, float, float, float, float, float]
KEPT = 24 * 60 * 60  # seconds
_RULES = 1
"""The version of the computation. Increase it with every change, so that nothing old is read."""
MOST_RUNS = 100
"""The number of runs whose spread is shown: with more, those with the best means."""


class RunSpread(NamedTuple):
    """A run with its mean, and the spread of its scores over topics: number and five figures."""

    run: BoardRun
    mean: float
    topics: int
    worst: float
    low: float
    median: float
    high: float
    best: float


def run_spreads(board: Board, *, qrel_set: QrelSet, measure: Measure) -> list[RunSpread]:
    """Return the spreads of the best runs of a board in a measure, the best mean first.

    The runs that do not count follow the others.

    Quartiles are interpolated between topics. A run has only the topics for which it has a score.
    """
    runs = by_mean((row.run for row in board.rows), measure.name)[:MOST_RUNS]
    means = [(run.key, run.values[measure.name]) for run in runs]
    parts = _RULES, qrel_set.pk, qrel_set.sha256, measure.name, means
    key = f"run-spreads:{sha256(repr(parts).encode()).hexdigest()}"
    figures: dict[int, Figures] | None = computed_values.get(key)
    if figures is None:
        figures = _figures([run for run, _ in means], qrel_set, measure)
        computed_values.set(key, figures, timeout=KEPT)
    return [
        RunSpread(run, run.values[measure.name], *figures[run.key])
        for run in runs
        if run.key in figures
    ]


def _figures(runs: list[int], qrel_set: QrelSet, measure: Measure) -> dict[int, Figures]:
    """Return the number of topics and the five figures of each run that has topics."""
    _, scores = topic_matrix(runs=runs, qrel_set=qrel_set, measure=measure.name)
    known = ~np.isnan(scores)
    some = np.flatnonzero(known.any(axis=1))
    if not len(some):
        return {}
    figures = np.nanquantile(scores[some], [0, 0.25, 0.5, 0.75, 1], axis=1).T.tolist()
    counts = known[some].sum(axis=1).tolist()
    return {
        runs[place]: (count, *five)
        for place, count, five in zip(some, counts, figures, strict=True)
    }
