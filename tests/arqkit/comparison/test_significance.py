"""Tests of significance agree with scipy and statsmodels on random and tied scores."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests

from arqkit.comparison.differences import pair_differences
from arqkit.comparison.families import (
    benjamini_hochberg,
    holm,
    pair_family,
    paired_t,
    randomization,
    studentized_range_tail,
    tukey_hsd,
    wilcoxon_signed_rank,
)
from tests.arqkit.comparison.data import TABLES, random_scores, tied_scores

FEW = [param for param in TABLES if param.values[0].shape[1] <= 13]
DISTRIBUTED = [(8, 5, 3), (8, 14, 15), (40, 50, 15), (8, 78, 10), (5, 98, 30)]
"""Runs, topics, and the parts of which scores are multiples."""


@pytest.mark.parametrize("scores", TABLES)
def test_paired_t_is_that_of_scipy(scores):
    peer = [stats.ttest_rel(one, other).pvalue for one, other in combinations(scores, 2)]

    assert paired_t(pair_differences(scores)) == pytest.approx(peer, abs=1e-9)


@pytest.mark.parametrize("scores", TABLES)
def test_wilcoxons_test_is_that_of_scipy(scores):
    peer = [stats.wilcoxon(one - other).pvalue for one, other in combinations(scores, 2)]

    assert wilcoxon_signed_rank(pair_differences(scores)) == pytest.approx(peer, abs=1e-9)


@pytest.mark.parametrize("scores", FEW)
def test_randomization_of_few_topics_is_the_exact_test_of_scipy(scores):
    peer = [
        stats.permutation_test(
            (one - other,), np.sum, permutation_type="samples", n_resamples=np.inf
        ).pvalue
        for one, other in combinations(scores, 2)
    ]

    assert randomization(pair_differences(scores)) == pytest.approx(peer, abs=1e-9)


@pytest.mark.parametrize("table", DISTRIBUTED)
def test_randomization_of_multiples_of_a_unit_counts_all_signs(table):
    runs, topics, parts = table
    whole = np.random.default_rng(topics).integers(0, parts + 1, (runs, topics))
    peer = [signs_reached(one - other) for one, other in combinations(whole, 2)]

    found = randomization(pair_differences(whole / parts))

    assert found == pytest.approx(peer, abs=1e-12, rel=1e-9)


DIGIT = 128
"""The bits of a digit, which has room for the number of all signs of 78 topics or of 98."""


def signs_reached(differences: np.ndarray) -> float:
    """Return the share of all signs of whole numbers whose sum reaches the observed one.

    The digits of a number are how many choices of differences have each sum.
    """
    sizes = [abs(int(size)) for size in differences]
    ways = 1
    for size in sizes:
        ways += ways << DIGIT * size
    least = abs(int(differences.sum()))
    if not least:
        return 1.0
    below = ways % (1 << DIGIT * ((sum(sizes) - least) // 2 + 1))
    sum_of_digits = below % ((1 << DIGIT) - 1)
    return float(Fraction(2 * sum_of_digits, 2 ** len(sizes)))


@pytest.mark.parametrize(("runs", "topics", "parts"), [(6, 30, 27_720), (6, 60, 360_360)])
def test_drawn_signs_are_counted_as_whole_numbers_count_them(runs, topics, parts):
    """The sums of these fractions are often equal, and their unit is too small to count all."""
    draw = np.random.default_rng(topics)
    whole = parts // draw.integers(1, 13, (runs, topics)) * draw.integers(0, 2, (runs, topics))
    bits = np.random.default_rng(3).integers(0, 2, (999, topics))
    sums = [np.abs((2 * bits - 1) @ (one - other)) for one, other in combinations(whole, 2)]
    least = [abs((one - other).sum()) for one, other in combinations(whole, 2)]
    peer = [((one >= at).sum() + 1) / 1000 for one, at in zip(sums, least, strict=True)]

    found = randomization(pair_differences(whole / parts), resamples=999, seed=3)

    assert found == pytest.approx(peer, abs=1e-12)


def test_all_signs_of_the_topics_that_differ_are_tried_whatever_their_number():
    scores = random_scores(2, 60)
    scores[1, 12:] = scores[0, 12:]
    [differences] = scores[0] - scores[1:]
    peer = stats.permutation_test(
        (differences[:12],), np.sum, permutation_type="samples", n_resamples=np.inf
    )

    assert randomization(differences[None]) == pytest.approx([peer.pvalue], abs=1e-9)


def test_thirds_are_tied():
    scores = np.array([[0, 0, 2, 2, 0], [0, 1, 0, 0, 1]]) / 3

    assert randomization(pair_differences(scores)).tolist() == [0.75]


def test_randomization_of_many_topics_is_near_the_t_test():
    differences = pair_differences(random_scores(8, 78))

    assert randomization(differences) == pytest.approx(paired_t(differences), abs=0.02)


@pytest.mark.parametrize("topics", [2, 13, 14, 78])
@pytest.mark.parametrize("test", [paired_t, wilcoxon_signed_rank, randomization])
def test_equal_runs_have_a_p_value_of_one(test, topics):
    assert test(np.zeros((2, topics))).tolist() == [1.0, 1.0]


def test_a_constant_difference_is_certain_in_a_t_test():
    assert paired_t(np.full((1, 7), 0.1)).tolist() == [0.0]


@pytest.mark.parametrize("scores", TABLES)
def test_tukeys_test_is_of_the_error_of_statsmodels_and_the_range_of_scipy(scores):
    runs, topics = scores.shape
    run, topic = np.indices(scores.shape).reshape(2, -1)
    design = np.hstack([np.eye(runs)[run], np.eye(topics)[topic][:, 1:]])
    fit = OLS(scores.ravel(), design).fit()
    means = scores.mean(axis=1)
    apart = np.array([abs(one - other) for one, other in combinations(means, 2)])
    ranges = apart / np.sqrt(fit.mse_resid / topics)
    peer = stats.studentized_range.sf(ranges, runs, fit.df_resid)

    assert tukey_hsd(scores) == pytest.approx(peer, abs=1e-9)


@pytest.mark.parametrize(("groups", "freedom"), [(2, 2), (2, 9), (3, 40), (10, 100), (40, 3003)])
def test_the_tail_of_the_studentized_range_is_that_of_scipy(groups, freedom):
    ranges = np.array([0.0, 0.01, 0.7, 2.0, 3.5, 5.0, 9.0, 40.0])
    peer = stats.studentized_range.sf(ranges, groups, freedom)

    assert studentized_range_tail(ranges, groups, freedom) == pytest.approx(peer, abs=1e-9)


def test_runs_without_error_differ_or_are_equal():
    scores = np.array([[0.1, 0.5], [0.1, 0.5], [0.3, 0.7]])

    assert tukey_hsd(scores).tolist() == [1.0, 0.0, 0.0]


def test_a_few_topics_are_tested_in_several_parts():
    differences = pair_differences(tied_scores(25, 10))  # 300 pairs

    alone = [randomization(row[None])[0] for row in differences]
    assert randomization(differences).tolist() == alone


def test_the_pairs_of_a_family_are_tested_in_parts_and_corrected_together(monkeypatch):
    scores = tied_scores(8, 10)
    whole = pair_family(scores, "t")
    monkeypatch.setattr("arqkit.comparison.families.PAIRS_OF_A_TEST", 5)

    np.testing.assert_array_equal(pair_family(scores, "t"), whole)


@pytest.mark.parametrize("size", [1, 2, 10, 780])
@pytest.mark.parametrize(("correct", "method"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
def test_corrections_are_those_of_statsmodels(correct, method, size):
    generator = np.random.default_rng(size)
    for values in (generator.random(size) ** 3, generator.integers(0, 4, size) / 40):
        peer = multipletests(values, method=method)[1]
        assert correct(values) == pytest.approx(peer, abs=1e-9)
