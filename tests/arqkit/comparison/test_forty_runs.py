"""A board of 40 runs, whose p-values are those of SciPy or of all signs, pair by pair."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from arqkit.comparison.differences import (
    bootstrap_intervals,
    effect_sizes,
    pair_differences,
    wins_ties_losses,
)
from arqkit.comparison.families import PAIR_TESTS, mean_intervals, pair_family, tukey_hsd
from tests.arqkit.comparison.test_significance import signs_reached

RUNS, PARTS = 40, 15
SIZES = [12, 30, 50, 78]
"""Numbers of topics on both sides of SciPy's limits: 13 with ties, and 50."""


def wilcoxon(one: np.ndarray, other: np.ndarray) -> float:
    """Return what `scipy.stats.wilcoxon` does: with ties, it tries all signs of up to 13 ranks.

    It takes half a second for them, so they are tried here.
    """
    differences = (one - other)[one != other]
    if len(one) > 13:
        return stats.wilcoxon(one - other).pvalue if differences.size else 1.0
    halves = 2 * stats.rankdata(np.abs(differences)) * np.sign(differences)
    return signs_reached(halves.astype(int))


PEERS = {
    "t": lambda one, other: stats.ttest_rel(one, other).pvalue,
    "wilcoxon": wilcoxon,
    "randomization": lambda one, other: signs_reached(one - other),
}
PAIRS = np.triu_indices(RUNS, 1)


def whole_scores(topics: int) -> np.ndarray:
    """Return fifteenths: systems that differ in quality, and often agree on a topic."""
    draw = np.random.default_rng(topics)
    level = draw.uniform(2, 11, (RUNS, 1)) + draw.normal(0, 2, (1, topics))
    return np.clip(np.round(level + draw.normal(0, 2.5, (RUNS, topics))), 0, PARTS).astype(int)


@pytest.mark.parametrize("topics", SIZES)
@pytest.mark.parametrize("test", PEERS)
def test_each_pair_has_the_p_value_of_the_pair_alone(test, topics):
    whole = whole_scores(topics)
    peer = [PEERS[test](one, other) for one, other in combinations(whole, 2)]

    found = pair_family(whole / PARTS, test).plain[PAIRS]

    assert len(found) == 780
    assert found == pytest.approx(peer, abs=1e-9)


@pytest.mark.parametrize("topics", SIZES)
def test_tukeys_p_values_are_those_of_whole_numbers(topics):
    whole = whole_scores(topics)
    means = [whole[one].sum() - whole[other].sum() for one, other in combinations(range(RUNS), 2)]
    rest = whole - whole.mean(axis=1, keepdims=True) - whole.mean(axis=0) + whole.mean()
    freedom = (RUNS - 1) * (topics - 1)
    error = np.sqrt((rest**2).sum() / freedom / topics)
    ranges = np.abs(means) / topics / error
    peer = stats.studentized_range.sf(ranges[::78], RUNS, freedom)

    assert tukey_hsd(whole / PARTS)[::78] == pytest.approx(peer, abs=1e-9)


@pytest.mark.parametrize("topics", SIZES)
@pytest.mark.parametrize("test", PAIR_TESTS)
def test_other_runs_change_no_p_value_of_a_pair(test, topics):
    scores = whole_scores(topics) / PARTS
    others = np.random.default_rng(1).random((5, topics))  # without ties, unlike the others
    others[:, ::7] = np.nan
    before = pair_family(scores, test).plain

    after = pair_family(np.vstack([others[:2], scores, others[2:]]), test).plain

    np.testing.assert_array_equal(after[2:42, 2:42], before)


def test_other_runs_change_no_other_figure_of_a_pair():
    scores = whole_scores(50) / PARTS
    one = pair_differences(scores[[3, 8]])
    every = pair_differences(scores)[37 + 38 + 39 + 4 : 37 + 38 + 39 + 5]

    for figure in (wins_ties_losses, effect_sizes, bootstrap_intervals):
        np.testing.assert_array_equal(figure(every), figure(one))
    np.testing.assert_allclose(
        mean_intervals(scores)[3], mean_intervals(scores[3:4])[0], atol=1e-15
    )


def test_wilcoxons_distribution_is_chosen_for_each_pair():
    """Of 30 topics, the first pair has no ties, and the others have."""
    steps = np.arange(1.0, 31.0)
    ties = np.where(steps % 2, steps, steps + 1)
    scores = np.array([np.zeros(30), steps * np.where(steps % 3, 1, -1), ties]) / 31
    peer = [stats.wilcoxon(a - b).pvalue for a, b in combinations(np.round(scores * 31), 2)]

    assert pair_family(scores, "wilcoxon").plain[np.triu_indices(3, 1)] == pytest.approx(peer)
