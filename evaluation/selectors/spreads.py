"""The spread of the scores of the runs of a board over topics."""

from typing import Any, NamedTuple

import numpy as np

from arqkit.leaderboard import Board, BoardRun, by_mean
from arqkit.measures.names import Measure
from arqlab.core.caches import cached_value, key_of
from assessment.models import QrelSet
from evaluation.selectors.boards import topic_matrix

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

    The runs that do not count follow the others. Quartiles are interpolated between topics.
    """
    runs = by_mean((row.run for row in board.rows), measure.name)[:MOST_RUNS]
    means = [(run.key, run.values[measure.name]) for run in runs]
    facts = board.release, qrel_set.pk, qrel_set.sha256, measure.name, means
    keys = [run for run, _ in means]
    figures = cached_value(
        key_of("run-spreads", *facts), lambda: _figures(board, keys, qrel_set, measure), work=0.02
    )
    return [
        RunSpread(run, run.values[measure.name], *figures[run.key])
        for run in runs
        if run.key in figures
    ]


def _figures(
    board: Board, runs: list[int], qrel_set: QrelSet, measure: Measure
) -> dict[int, list[Any]]:
    """Return the number of topics and the five figures of each run that has topics."""
    _, scores = topic_matrix(board, runs=runs, qrel_set=qrel_set, measure=measure.name)
    has_score = ~np.isnan(scores)
    some = np.flatnonzero(has_score.any(axis=1))
    if not len(some):
        return {}
    figures = np.nanquantile(scores[some], [0, 0.25, 0.5, 0.75, 1], axis=1).T.tolist()
    counts = has_score[some].sum(axis=1).tolist()
    rows = zip(some, counts, figures, strict=True)
    return {runs[place]: [count, *five] for place, count, five in rows}
