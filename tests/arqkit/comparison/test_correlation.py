"""Correlations of measures: scipy's coefficients on random and tied data, and the paper's."""

import numpy as np
import pytest
from scipy import stats

from arqkit.comparison.correlation import correlations

# ARQMath-3, Table 5: AR, P@1, LO, CS of the runs of Task 3.
TABLE_5 = """1.346 0.500 0.317 0.851
1.282 0.436 0.509 0.886
1.231 0.397 0.515 0.886
1.179 0.372 0.467 0.879
1.115 0.321 0.427 0.868
0.949 0.282 0.444 0.873
0.462 0.154 0.330 0.846
0.449 0.154 0.329 0.846
0.423 0.128 0.325 0.852
0.385 0.103 0.323 0.851
0.325 0.078 0.263 0.835
0.244 0.064 0.248 0.806
0.231 0.051 0.254 0.813
0.205 0.026 0.239 0.820"""


@pytest.mark.parametrize("levels", [3, 10_000])
@pytest.mark.parametrize("seed", range(5))
def test_the_coefficients_are_those_of_scipy(seed, levels):
    values = np.random.default_rng(seed).integers(0, levels, (40, 5)) / levels
    found = correlations(values)

    for one in range(5):
        for other in range(5):
            pair = values[:, one], values[:, other]
            pearson, kendall = stats.pearsonr(*pair).statistic, stats.kendalltau(*pair).statistic
            assert found.pearson[one, other] == pytest.approx(pearson, abs=1e-9)
            assert found.kendall[one, other] == pytest.approx(kendall, abs=1e-9)
    assert (found.runs == 40).all()


def test_the_paper_s_runs_have_the_paper_s_coefficients():
    found = correlations(np.array([line.split() for line in TABLE_5.splitlines()], dtype=float))
    upper = np.triu_indices(4, 1)

    # Table 6 is from the figures before they were rounded, which made other ties.
    pearson = [0.989, 0.837, 0.839, 0.787, 0.802, 0.952]
    assert found.pearson[upper] == pytest.approx(pearson, abs=0.002)
    kendall = [0.994, 0.736, 0.670, 0.729, 0.674, 0.805]
    assert found.kendall[upper] == pytest.approx(kendall, abs=0.015)


def test_a_missing_value_leaves_out_its_run():
    values = np.array([[1.0, 2.0, np.nan], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0]])
    found = correlations(values)

    assert found.runs.tolist() == [[3, 3, 2], [3, 3, 2], [2, 2, 2]]
    assert found.kendall[1, 2] == pytest.approx(-1)


def test_a_constant_measure_and_no_runs_have_no_coefficient():
    constant = correlations(np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 3.0]]))
    empty = correlations(np.empty((0, 2)))

    assert np.isnan(constant.pearson[0]).all()
    assert np.isnan(constant.kendall[0]).all()
    assert np.isnan(empty.pearson).all()
    assert constant.pearson[1, 1] == pytest.approx(1)
