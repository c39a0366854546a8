"""A test of all pairs of runs, with the p-values corrected for their number."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from arqkit.comparison.corrections import benjamini_hochberg, holm
from arqkit.comparison.differences import pair_differences, run_pairs
from arqkit.comparison.significance import paired_t, randomization, wilcoxon_signed_rank
from arqkit.comparison.tukey import tukey_hsd
from arqkit.measures.columns import Reals

TUKEY = "tukey"
"""The test whose p-values are those of the family already, without a correction."""
PAIR_TESTS: Mapping[str, Callable[[Reals], Reals]] = {
    "t": paired_t,
    "wilcoxon": wilcoxon_signed_rank,
    "randomization": randomization,
}
FAMILY_TESTS = (*PAIR_TESTS, TUKEY)


class PairFamily(NamedTuple):
    """The p-values of a test of all pairs of runs, as square matrices, NaN on the diagonal.

    `plain` is uncorrected. Tukey's p-values are equal in all three. A pair without two common
    topics has NaN, and does not count as a test.
    """

    plain: Reals
    holm: Reals
    bh: Reals


def pair_family(scores: Reals, test: str) -> PairFamily:
    """Return a test of all pairs of runs (rows of `scores`); a missing score is NaN.

    A pair is tested over the topics for which both runs have scores; Tukey's test is over the
    topics for which all runs have scores.
    """
    if test == TUKEY:
        common = scores[:, ~np.isnan(scores).any(axis=0)]
        pairs = len(scores) * (len(scores) - 1) // 2
        is_possible = min(common.shape) > 1
        values = tukey_hsd(common) if is_possible else np.full(pairs, np.nan)
        return PairFamily(*[_square(values, len(scores))] * 3)
    values = _over_common_topics(pair_differences(scores), PAIR_TESTS[test])
    known = ~np.isnan(values)
    corrected = [np.full(len(values), np.nan) for _ in range(2)]
    for result, correct in zip(corrected, (holm, benjamini_hochberg), strict=True):
        result[known] = correct(values[known])
    return PairFamily(*(_square(each, len(scores)) for each in (values, *corrected)))


def _over_common_topics(differences: Reals, test: Callable[[Reals], Reals]) -> Reals:
    """Test each pair over its topics; pairs with the same topics are tested together."""
    masks, group = np.unique(~np.isnan(differences), axis=0, return_inverse=True)
    found = np.full(len(differences), np.nan)
    for number, mask in enumerate(masks):
        if mask.sum() > 1:
            found[group == number] = test(differences[group == number][:, mask])
    return found


def _square(values: Reals, runs: int) -> Reals:
    matrix = np.full((runs, runs), np.nan)
    first, second = run_pairs(runs)
    matrix[first, second] = matrix[second, first] = values
    return matrix
