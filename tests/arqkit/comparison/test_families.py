"""Families of tests: all pairs, corrected together, over the topics that a pair has in common."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from arqkit.comparison.families import FAMILY_TESTS, mean_intervals, p_values_against, pair_family
from tests.arqkit.comparison.data import tied_scores

PEERS = {"t": stats.ttest_1samp, "wilcoxon": stats.wilcoxon}


def upper(matrix: np.ndarray) -> np.ndarray:
    return matrix[np.triu_indices(len(matrix), 1)]


@pytest.mark.parametrize("test", PEERS)
def test_pairs_are_tested_over_their_common_topics_and_corrected_together(test):
    scores = tied_scores(5, 20)
    scores[2, :4] = scores[4, 3:9] = np.nan
    differences = [one - other for one, other in combinations(scores, 2)]
    arguments = {"popmean": 0} if test == "t" else {}
    peer = [PEERS[test](row[~np.isnan(row)], **arguments).pvalue for row in differences]

    found = pair_family(scores, test)

    assert upper(found.plain) == pytest.approx(peer, abs=1e-9)
    assert upper(found.holm) == pytest.approx(multipletests(peer, method="holm")[1], abs=1e-9)
    assert upper(found.bh) == pytest.approx(multipletests(peer, method="fdr_bh")[1], abs=1e-9)


def test_runs_are_tested_against_one_over_common_topics_and_corrected():
    scores = tied_scores(5, 20)
    scores[2, :4] = scores[1, 3:9] = np.nan
    others = [scores[row] - scores[1] for row in (0, 2, 3, 4)]
    peer = [stats.ttest_1samp(row[~np.isnan(row)], popmean=0).pvalue for row in others]

    values = p_values_against(scores, 1, "t")

    assert np.isnan(values[1])
    assert np.delete(values, 1) == pytest.approx(multipletests(peer, method="holm")[1], abs=1e-9)


def test_the_interval_of_a_mean_is_that_of_scipy_over_the_topics_of_the_run():
    scores = tied_scores(3, 20)
    scores[1, :5], scores[2, 1:] = np.nan, np.nan
    peer = stats.bootstrap(
        [scores[1, 5:]],
        np.mean,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval

    ends = mean_intervals(scores)

    assert ends[1] == pytest.approx((peer.low, peer.high), abs=1e-9)
    assert np.isnan(ends[2]).all()


def test_tukeys_test_is_over_the_topics_of_all_runs_and_not_corrected():
    scores = tied_scores(5, 20)
    with_gaps = scores.copy()
    with_gaps[2, :4] = np.nan

    found = pair_family(with_gaps, "tukey")

    assert upper(found.plain) == pytest.approx(upper(pair_family(scores[:, 4:], "tukey").plain))
    assert upper(found.holm).tolist() == upper(found.plain).tolist() == upper(found.bh).tolist()


@pytest.mark.parametrize("test", FAMILY_TESTS)
def test_a_pair_with_less_than_two_common_topics_is_not_tested(test):
    scores = np.array([[0.1, 0.5, 0.2], [0.3, np.nan, np.nan], [0.2, 0.1, 0.4]])

    found = pair_family(scores, test)

    assert np.isnan(found.plain[0, 1])
    assert np.isnan(found.holm[1, 2])
    if test != "tukey":
        assert found.plain[0, 2] == found.holm[0, 2] == found.bh[2, 0]


@pytest.mark.parametrize("test", FAMILY_TESTS)
def test_one_run_has_no_pairs(test):
    assert np.isnan(pair_family(np.array([[0.1, 0.5]]), test).plain).all()
