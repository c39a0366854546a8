"""Claim: all pairs of runs are tested while a reader waits.

40 runs over 78 topics, 780 pairs, with ties: paired t, Wilcoxon, randomization and Tukey's HSD,
each with both corrections, and bootstrap intervals. The limit is absolute: 3 s. P-values of some
pairs are equal to those of scipy to 1e-9.
"""

import numpy as np
from scipy import stats

from arqlab.ir.comparison.differences import bootstrap_intervals, pair_differences
from arqlab.ir.comparison.families import FAMILY_TESTS, pair_family
from arqlab.ir.measures.columns import Reals
from benchmarks.common import Benchmark, seconds, start

LIMIT, LARGEST_DIFFERENCE = 3.0, 1e-9


def main(bench: Benchmark) -> None:
    """Test all pairs in each round."""
    runs, topics = bench.sized((40, 78), (6, 12))
    scores = np.random.default_rng(0).beta(1.2, 2, (runs, topics))
    scores[:, : topics // 3] = np.round(scores[:, : topics // 3], 1)
    times = bench.alternate({"all": lambda: seconds(lambda: run_tests(scores))}, unmeasured=1)
    bench.limit("All pairs", float(np.median(times["all"])), LIMIT, "s")
    # As rounded as ours, so that equal differences are ties for both.
    differences = pair_differences(scores)[:5]
    for test, peer in (("t", lambda row: stats.ttest_1samp(row, 0)), ("wilcoxon", stats.wilcoxon)):
        found = pair_family(scores, test).plain[0, 1:6]
        expected = [peer(row).pvalue for row in differences]
        bench.require(
            f"p-values of {test} are equal", abs(found - expected).max() < LARGEST_DIFFERENCE
        )


def run_tests(scores: Reals) -> None:
    """Test all pairs as the pages do."""
    for test in FAMILY_TESTS:
        pair_family(scores, test)
    bootstrap_intervals(pair_differences(scores))


if __name__ == "__main__":
    start(main)
