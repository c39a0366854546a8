"""Comparisons of the runs of a board in one measure. Nothing is stored.

The tests of all pairs are cached by the scores, so that each is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from django.core.cache import cache

from arqlab.ir.comparison.differences import (
    bootstrap_intervals,
    effect_sizes,
    pair_differences,
    wins_ties_losses,
)
from arqlab.ir.comparison.families import FAMILY_TESTS, PairFamily, pair_family
from arqlab.ir.leaderboard import BoardRun
from arqlab.ir.measures.names import Measure
from evaluation.permissions import VisibleBoard
from evaluation.selectors.comparison import TopicMatrix, topic_matrix

KEPT = 24 * 60 * 60  # seconds
_RULES = 1
"""The version of the computation. Increase it with every change, so that nothing old is read."""


class ComparedRuns(NamedTuple):
    """The runs of a board with scores in a measure, best mean first, and their scores by topic."""

    measure: Measure
    runs: Sequence[BoardRun]
    matrix: TopicMatrix

    def family(self, test: str) -> PairFamily:
        """Return a test of all pairs of the runs."""
        scores = self.matrix.scores
        digest = sha256(repr((_RULES, scores.shape)).encode() + scores.tobytes()).hexdigest()
        key = f"pair-family:{test}:{digest}"
        found: PairFamily | None = cache.get(key)
        if found is None:
            found = pair_family(scores, test)
            cache.set(key, found, timeout=KEPT)
        return found


class ComparedTopic(NamedTuple):
    """A topic with the scores of two runs."""

    query_id: str
    first: float
    second: float
    difference: float


class PairTest(NamedTuple):
    """The p-values of a test of two runs: plain, and corrected over all pairs of the board.

    A p-value is None if the test is not possible.
    """

    test: str
    plain: float | None
    holm: float | None
    bh: float | None


class RunPair(NamedTuple):
    """The differences of two runs over their common topics: the first minus the second.

    `topics` has the largest difference first. `low` and `high` are the ends of the 95% interval of
    the mean difference. `effect` is None for differences without deviation.
    """

    first: BoardRun
    second: BoardRun
    topics: list[ComparedTopic]
    means: tuple[float, float]
    difference: float
    low: float
    high: float
    effect: float | None
    wins: int
    ties: int
    losses: int
    tests: list[PairTest]


def compared_runs(shown: VisibleBoard, measure: Measure) -> ComparedRuns:
    """Return the runs of a board that can be compared in a measure, with their scores."""
    scored = [row.run for row in shown.board.rows if measure.name in row.run.values]
    runs = sorted(scored, key=lambda run: -run.values[measure.name])
    keys = [run.key for run in runs]
    matrix = topic_matrix(runs=keys, qrel_set=shown.qrel_set, measure=measure.name)
    return ComparedRuns(measure, runs, matrix)


def run_pair(compared: ComparedRuns, first: int, second: int) -> RunPair | None:
    """Return the comparison of two runs (places), or None if they have no common topics."""
    scores = compared.matrix.scores[[first, second]]
    common = np.flatnonzero(~np.isnan(scores).any(axis=0))
    if not len(common):
        return None
    scores = scores[:, common]
    differences = pair_differences(scores)
    [[low, high]] = bootstrap_intervals(differences)
    [[wins, ties, losses]] = wins_ties_losses(differences).tolist()
    mean_first, mean_second = scores.mean(axis=1).tolist()
    names = [compared.matrix.topics[place] for place in common]
    rows = zip(names, *scores.tolist(), *differences.tolist(), strict=True)
    return RunPair(
        first=compared.runs[first],
        second=compared.runs[second],
        topics=sorted((ComparedTopic(*row) for row in rows), key=lambda row: -row.difference),
        means=(mean_first, mean_second),
        difference=float(differences.mean()),
        low=float(low),
        high=float(high),
        effect=_known(effect_sizes(differences)[0]),
        wins=wins,
        ties=ties,
        losses=losses,
        tests=[_pair_test(compared, test, first, second) for test in FAMILY_TESTS],
    )


def _pair_test(compared: ComparedRuns, test: str, first: int, second: int) -> PairTest:
    values = [_known(matrix[first, second]) for matrix in compared.family(test)]
    return PairTest(test, *values)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
