"""Comparisons of the runs of a board in one measure. Nothing is stored.

The tests of all pairs are cached by the scores, so that each is computed once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import NamedTuple, TypedDict

import numpy as np

from arqkit.comparison.correlation import (
    GroupPair,
    TopicGroup,
    group_pairs,
    jaccard,
    rank_biased_overlap,
)
from arqkit.comparison.differences import (
    bootstrap_intervals,
    effect_sizes,
    pair_differences,
    run_pairs,
    wins_ties_losses,
)
from arqkit.comparison.families import FAMILY_TESTS, SIGNIFICANT, PairFamily, pair_family
from arqkit.leaderboard import BoardRun, family_of
from arqkit.measures.columns import Reals
from arqkit.measures.names import Measure
from arqkit.measures.scoring import Scorer
from arqkit.records import ItemKind
from arqlab.core.caches import DAY, cached_value, computed_values, key_of
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame
from evaluation.permissions import VisibleBoard
from evaluation.selectors.boards import TopicMatrix, board_matrix, number_or_none
from evaluation.selectors.pending_scores import item_facts, qrels_rules
from evaluation.services.scoring import comparable_indexes, scoring_work
from submissions.models import Run

PAIRS = {"t": 1e-7, "wilcoxon": 2e-7, "randomization": 2e-6, "tukey": 1e-7}
"""The seconds that a test takes for a topic of two runs."""
PART = 25
"""The runs of a part of a test of all pairs, as it is cached."""
TAU = 5e-7
"""The seconds that Kendall's tau takes for two runs."""
CUTOFF = 10


class ComparedRuns(NamedTuple):
    """The runs of a board with scores in a measure, and their scores by topic.

    The best mean is first; the runs that do not count follow the others.
    """

    measure: Measure
    runs: Sequence[BoardRun]
    matrix: TopicMatrix

    def around(self, places: Sequence[int]) -> tuple[ComparedRuns, list[int]]:
        """Return the family of tests with the runs at some places, and their places in it."""
        also = {self.runs[place].key for place in places}
        keys = [run.key for run in self.runs]
        family = family_of(self.runs, self.measure.name, also=also)
        rows = [keys.index(run.key) for run in family]
        topics, scores = self.matrix
        compared = ComparedRuns(self.measure, family, TopicMatrix(topics, scores[rows]))
        return compared, [rows.index(place) for place in places]

    @property
    def competing(self) -> ComparedRuns:
        """Return the family of tests of the board."""
        return self.around([])[0]

    def family(self, test: str, places: Sequence[int]) -> PairFamily:
        """Return a test of the runs at some places (rows) with all runs (columns).

        It is cached in parts: that of all pairs of 1,000 runs has 24 MB.
        """
        scores = self.matrix.scores
        key = key_of("pair-family", test, scores.shape, scores.tobytes())
        work = PAIRS[test] * scores.shape[0] * scores.size

        def compute(part_number: int) -> PairFamily:
            family = pair_family(scores, test)
            starts = range(0, len(scores), PART)
            parts = [
                PairFamily(*(values[start : start + PART] for values in family)) for start in starts
            ]
            computed_values.set_many({f"{key}:{n}": part for n, part in enumerate(parts)}, DAY)
            return parts[part_number]

        parts = {
            number: cached_value(f"{key}:{number}", partial(compute, number), work=work)
            for number in {place // PART for place in places}
        }
        rows = [[values[place % PART] for values in parts[place // PART]] for place in places]
        return PairFamily(*np.array(rows).reshape(len(places), 3, len(scores)).swapaxes(0, 1))


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


class PairSummary(NamedTuple):
    """The first run minus the second over their common topics; None if it is not known."""

    first: BoardRun
    second: BoardRun
    topics: int
    difference: float | None
    wins: int
    ties: int
    losses: int
    effect: float | None
    p: float | None

    @property
    def is_significant(self) -> bool:
        """Return whether the p-value is below the level of significance."""
        return self.p is not None and self.p < SIGNIFICANT


class SeveralTopic(NamedTuple):
    """A topic with the scores of some runs; a missing one is None."""

    query_id: str
    values: list[float | None]


class SeveralRuns(NamedTuple):
    """Some runs with their scores by topic, and their pairs.

    `topics` has the topics with the best mean of these runs first.
    """

    runs: list[BoardRun]
    topics: list[SeveralTopic]
    pairs: list[PairSummary]


def compared_runs(visible: VisibleBoard, measure: Measure) -> ComparedRuns:
    """Return the runs of a board that can be compared in a measure, with their scores."""
    runs, matrix = board_matrix(visible.board, qrel_set=visible.qrel_set, measure=measure.name)
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
    mean_first, mean_second = scores.mean(axis=1).tolist()
    names = [compared.matrix.topics[place] for place in common]
    rows = zip(names, *scores.tolist(), *differences.tolist(), strict=True)
    families = {test: compared.family(test, [first]) for test in FAMILY_TESTS}
    return RunPair(
        first=compared.runs[first],
        second=compared.runs[second],
        topics=sorted((ComparedTopic(*row) for row in rows), key=lambda row: -row.difference),
        means=(mean_first, mean_second),
        difference=float(differences.mean()),
        low=float(low),
        high=float(high),
        tests=[
            PairTest(test, *(number_or_none(values[0, second]) for values in family))
            for test, family in families.items()
        ],
        **_figures(differences),
    )


class _Figures(TypedDict):
    wins: int
    ties: int
    losses: int
    effect: float | None


def _figures(differences: Reals) -> _Figures:
    """Return the figures of two runs that do not need their topics."""
    [[wins, ties, losses]] = wins_ties_losses(differences).tolist()
    return {
        "wins": wins,
        "ties": ties,
        "losses": losses,
        "effect": number_or_none(effect_sizes(differences)[0]),
    }


def several_runs(
    compared: ComparedRuns, places: Sequence[int], *, test: str, correction: str
) -> SeveralRuns:
    """Return the comparison of some runs (places) by a test, corrected over all pairs of runs."""
    scores = compared.matrix.scores[list(places)]
    values = getattr(compared.family(test, places), correction)
    # The runs that count come first, and no other run adds to the corrections of their pairs.
    official, count = compared.competing, len(compared.competing.runs)
    inside = [row for row, place in enumerate(places) if place < count]
    family = official.family(test, [places[row] for row in inside])
    values[inside, :count] = getattr(family, correction)
    pairs = zip(*run_pairs(len(places)), strict=True)
    has_score = ~np.isnan(scores)
    totals = np.where(has_score, scores, 0).sum(axis=0)
    means = np.divide(
        totals, has_score.sum(axis=0), out=np.full(len(totals), -1.0), where=totals > 0
    )
    order = [place for place in np.argsort(-means, kind="stable") if has_score[:, place].any()]
    return SeveralRuns(
        [compared.runs[place] for place in places],
        [
            SeveralTopic(
                compared.matrix.topics[place], [number_or_none(it) for it in scores[:, place]]
            )
            for place in order
        ],
        [
            _summary(compared, places[first], places[second], values[first, places[second]])
            for first, second in pairs
        ],
    )


def _summary(compared: ComparedRuns, first: int, second: int, p: float) -> PairSummary:
    scores = compared.matrix.scores[[first, second]]
    differences = pair_differences(scores[:, ~np.isnan(scores).any(axis=0)])
    runs, topics = (compared.runs[first], compared.runs[second]), differences.shape[1]
    mean = float(differences.mean()) if differences.size else None
    return PairSummary(
        *runs, p=number_or_none(p), topics=topics, difference=mean, **_figures(differences)
    )


def group_correlations(groups: Sequence[TopicGroup]) -> list[GroupPair]:
    """Return how the rankings of the runs by groups of topics correlate, cached by the means."""
    facts = [(group.name, group.means.tobytes(), group.ranked) for group in groups]
    ranked = max((group.ranked for group in groups), default=0)
    work = TAU * ranked**2 * math.comb(len(groups), 2)
    return cached_value(key_of("group-pairs", facts), lambda: group_pairs(groups), work=work)


class RunSimilarity(NamedTuple):
    """Means over the topics of the qrels that both runs answered; `judged` is of each run's top."""

    overlap: float
    jaccard: float
    judged: tuple[float, float]
    cutoff: int = CUTOFF


def run_similarity(qrel_set: QrelSet, first: int, second: int) -> RunSimilarity | None:
    """Return the similarity of two runs (keys), with the items that the qrels have.

    None if an index cannot be read, without common topics, and for Task 3: no answers are the same.
    """
    if qrel_set.items == ItemKind.ANSWERS:
        return None
    runs = Run.objects.select_related("team", "task__lab").in_bulk([first, second])
    both = [runs[first], runs[second]]
    key = key_of("run-similarity", qrels_rules(qrel_set), item_facts(both, qrel_set))
    return cached_value(key, lambda: _similarity(qrel_set, both), work=scoring_work(both))


def _similarity(qrel_set: QrelSet, runs: list[Run]) -> RunSimilarity | None:
    judged = judged_frame(qrel_set)
    indexes = [
        index.join(judged, on="topic", how="semi", maintain_order="left")
        for _, index in comparable_indexes(runs, qrel_set, judged)
    ]
    if len(indexes) < 2:
        return None
    first, second = indexes
    overlap = rank_biased_overlap(first, second)
    if not overlap:
        return None
    scorer = Scorer(judged, [f"Judged@{CUTOFF}"], answered_only=True)
    shares = [dict(scorer.score(index).select("topic", "value").iter_rows()) for index in indexes]
    both = shares[0].keys() & shares[1].keys()
    judged_first, judged_second = (fmean(share[topic] for topic in both) for share in shares)
    similar = jaccard(first, second, cutoff=CUTOFF)
    return RunSimilarity(
        fmean(overlap.values()), fmean(similar.values()), (judged_first, judged_second)
    )
