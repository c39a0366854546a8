"""Families of tests: all pairs, corrected together, over the topics that a pair has in common."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from arqkit.comparison.families import FAMILY_TESTS, pair_family
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
