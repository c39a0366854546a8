"""Differences, effect sizes and intervals agree with scipy and with plain loops."""

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
from tests.arqkit.comparison.data import TABLES, tied_scores


@pytest.mark.parametrize("scores", TABLES)
def test_wins_ties_and_losses_are_those_of_a_loop(scores):
    expected = [
        [sum(a > b for a, b in rows), sum(a == b for a, b in rows), sum(a < b for a, b in rows)]
        for one, other in combinations(scores, 2)
        for rows in [list(zip(one, other, strict=True))]
    ]

    assert wins_ties_losses(pair_differences(scores)).tolist() == expected


def test_equal_differences_of_decimal_fractions_are_tied():
    assert len(np.unique(pair_differences(np.array([[0.3, 0.2], [0.2, 0.1]])))) == 1


@pytest.mark.parametrize("scores", TABLES)
def test_the_effect_size_is_the_t_statistic_by_the_root_of_the_topics(scores):
    t = [stats.ttest_rel(one, other).statistic for one, other in combinations(scores, 2)]

    expected = np.array(t) / np.sqrt(scores.shape[1])
    assert effect_sizes(pair_differences(scores)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("differences", [[[0.0, 0.0]], [[0.1, 0.1, 0.1]], [[0.1]]])
def test_differences_without_deviation_have_no_effect_size(differences):
    assert np.isnan(effect_sizes(np.array(differences))).all()


@pytest.mark.parametrize("scores", TABLES)
def test_intervals_are_those_of_scipys_bootstrap_with_the_same_seed(scores):
    found = bootstrap_intervals(pair_differences(scores), resamples=999, seed=7)
    for (one, other), ends in zip(combinations(scores, 2), found, strict=True):
        peer = stats.bootstrap(
            (one - other,),
            np.mean,
            n_resamples=999,
            method="percentile",
            rng=np.random.default_rng(7),
        ).confidence_interval
        assert ends == pytest.approx(peer, abs=1e-9)


def test_an_interval_depends_only_on_the_scores_and_the_seed():
    differences = pair_differences(tied_scores(4, 20))

    assert (bootstrap_intervals(differences) == bootstrap_intervals(differences)).all()
    assert (bootstrap_intervals(differences) != bootstrap_intervals(differences, seed=1)).any()
