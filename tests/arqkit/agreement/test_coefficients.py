"""Coefficients agree with other libraries and printed figures, and obey their laws."""

from fractions import Fraction
from itertools import combinations, permutations

import krippendorff
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from tests.arqkit.agreement.tables import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    mean_pairwise_kappas,
    observed_agreement,
    tables,
    votes_of,
)

# Krippendorff, Computing Krippendorff's alpha-reliability, 2011, section C: four observers.
KRIPPENDORFF = list(
    zip(
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
        strict=True,
    )
)
# Cohen, 1960, table 1 for 200 items: how often the labels of two judges met.
COHEN = [[88, 10, 2], [14, 40, 6], [18, 10, 12]]
# Fleiss, 1971, table 1: the diagnoses of 30 patients by six psychiatrists each, in five categories.
FLEISS = [
    *([0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0]),
    *([2, 0, 4, 0, 0], [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6]),
    *([1, 0, 0, 5, 0], [1, 1, 0, 4, 0], [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1]),
    *([0, 0, 5, 0, 1], [3, 0, 0, 1, 2], [5, 1, 0, 0, 0], [0, 2, 0, 4, 0], [1, 0, 2, 0, 3]),
    *([0, 0, 0, 0, 6], [0, 1, 0, 5, 0], [0, 2, 0, 1, 3], [2, 0, 0, 4, 0], [1, 0, 0, 4, 1]),
    *([0, 5, 0, 1, 0], [4, 0, 0, 0, 2], [0, 2, 0, 4, 0], [1, 0, 5, 0, 0], [0, 0, 0, 0, 6]),
]


def both_rows(rows):
    return [(row[0], row[1]) for row in rows if row[0] is not None and row[1] is not None]


def several(rows):
    """Return the labels of items with two or more votes."""
    found = [[label for label in row if label is not None] for row in rows]
    return [row for row in found if len(row) > 1]


def used_labels(rows):
    return {label for row in rows for label in row}


def all_coefficients(votes):
    return {
        **mean_pairwise_kappas(votes),
        "pair": cohen_kappa(votes, "a", "b"),
        "fleiss": fleiss_kappa(votes),
        "nominal": krippendorff_alpha(votes),
        "ordinal": krippendorff_alpha(votes, "ordinal"),
        "observed": observed_agreement(votes),
    }


def test_cohens_kappa_is_as_printed_by_cohen():
    rows = [(i, j) for i in range(3) for j in range(3) for _ in range(COHEN[i][j])]

    assert cohen_kappa(votes_of(rows), "a", "b") == pytest.approx(0.492, abs=5e-4)


def test_fleiss_kappa_is_as_printed_by_fleiss():
    rows = [np.repeat(range(5), counts).tolist() for counts in FLEISS]

    assert fleiss_kappa(votes_of(rows)) == pytest.approx(0.430, abs=5e-4)


@pytest.mark.parametrize(("level", "printed"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_alpha_is_as_printed_by_krippendorff(level, printed):
    assert krippendorff_alpha(votes_of(KRIPPENDORFF), level) == pytest.approx(printed, abs=5e-4)


@given(tables(assessors=(2, 2)))
def test_cohens_kappa_is_that_of_scikit_learn(rows):
    common = both_rows(rows)
    assume(len(used_labels(common)) > 1)
    peer = cohen_kappa_score(*zip(*common, strict=True))

    assert cohen_kappa(votes_of(rows), "a", "b") == pytest.approx(peer, abs=1e-12)


@given(tables(assessors=(3, 5)))
def test_the_mean_pairwise_kappa_is_over_the_others_with_a_kappa(rows):
    votes = votes_of(rows)
    for name, mean in mean_pairwise_kappas(votes).items():
        others = set(votes["assessor"]) - {name}
        kappas = [cohen_kappa(votes, name, other) for other in others]
        defined = [kappa for kappa in kappas if kappa is not None]
        expected = pytest.approx(sum(defined) / len(defined)) if defined else None
        assert mean == expected


@given(tables(missing=False))
def test_fleiss_kappa_is_that_of_statsmodels(rows):
    assume(len(used_labels(rows)) > 1)
    peer = statsmodels_fleiss(aggregate_raters(np.array(rows))[0])

    assert fleiss_kappa(votes_of(rows)) == pytest.approx(peer, abs=1e-12)


@given(tables(assessors=(4, 4)))
def test_fleiss_kappa_is_that_of_statsmodels_for_two_votes_of_any_assessors(rows):
    pairs = [row for row in rows if sum(label is not None for label in row) == 2]
    labels = several(pairs)
    assume(len(used_labels(labels)) > 1)
    peer = statsmodels_fleiss(aggregate_raters(np.array(labels))[0])

    assert fleiss_kappa(votes_of(pairs)) == pytest.approx(peer, abs=1e-12)


@given(tables())
def test_fleiss_kappa_with_missing_votes_is_gwets(rows):
    items = several(rows)
    used = used_labels(items)
    assume(len(used) > 1)
    agreeing = [
        Fraction(sum(a == b for a, b in permutations(row, 2)), len(row) * (len(row) - 1))
        for row in items
    ]
    observed = sum(agreeing) / len(items)
    shares = [sum(Fraction(row.count(label), len(row)) for row in items) for label in used]
    chance = sum((share / len(items)) ** 2 for share in shares)

    assert fleiss_kappa(votes_of(rows)) == pytest.approx(float((observed - chance) / (1 - chance)))


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@given(rows=tables())
def test_alpha_is_that_of_krippendorff(level, rows):
    assume(len(used_labels(several(rows))) > 1)
    data = np.array(rows, dtype=float).T
    peer = krippendorff.alpha(data, level_of_measurement=level)

    assert krippendorff_alpha(votes_of(rows), level) == pytest.approx(peer, abs=1e-9)


@given(tables(assessors=(2, 2)))
def test_observed_agreement_is_the_fraction_of_equal_labels(rows):
    common = both_rows(rows)
    equal = sum(one == other for one, other in common)

    expected = pytest.approx(equal / len(common)) if common else None
    assert observed_agreement(votes_of(rows)) == expected


def test_observed_agreement_is_the_mean_over_items():
    # Three of three pairs agree, one of three, and one of one.
    rows = [(1, 1, 1), (2, 2, 3), (0, 0, None), (3, None, None)]

    assert observed_agreement(votes_of(rows)) == pytest.approx((1 + 1 / 3 + 1) / 3)


@given(tables(assessors=(2, 2)))
def test_cohens_kappa_is_symmetric(rows):
    votes = votes_of(rows)

    assert cohen_kappa(votes, "a", "b") == cohen_kappa(votes, "b", "a")


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.integers(2, 4))
def test_identical_labels_agree_perfectly(labels, assessors):
    assume(len(set(labels)) > 1)
    found = all_coefficients(votes_of([[label] * assessors for label in labels]))

    assert set(found.values()) == {1.0}


@given(tables(), st.permutations("abcde"))
def test_coefficients_do_not_depend_on_the_names_of_assessors(rows, names):
    renamed = all_coefficients(votes_of(rows, "".join(names)))
    found = all_coefficients(votes_of(rows))

    for name, other in zip("abcde", names, strict=True):
        assert renamed.get(other) == pytest.approx(found.get(name), abs=1e-12)
    for key in ("fleiss", "nominal", "ordinal", "observed"):
        assert renamed[key] == pytest.approx(found[key], abs=1e-12)


@given(tables(), st.randoms(use_true_random=False))
def test_coefficients_do_not_depend_on_the_order_of_items_and_votes(rows, random):
    shuffled = votes_of(random.sample(rows, len(rows)))
    shuffled = shuffled.sample(fraction=1, shuffle=True, seed=1)

    assert all_coefficients(shuffled) == pytest.approx(all_coefficients(votes_of(rows)), abs=1e-12)


@pytest.mark.parametrize(
    "rows",
    [[], [(1, None), (None, 2)], [(1, 1), (1, 1)]],
    ids=["no votes", "no common items", "one label only"],
)
def test_kappa_and_alpha_are_undefined_without_different_labels_on_common_items(rows):
    found = all_coefficients(votes_of(rows))
    del found["observed"]

    assert set(found.values()) == {None}


def test_two_assessors_without_common_items_have_no_kappa():
    votes = votes_of([(1, 2, None), (0, 3, None), (None, 1, 2), (None, 0, 0)])

    assert cohen_kappa(votes, "a", "c") is None
    assert mean_pairwise_kappas(votes)["a"] == cohen_kappa(votes, "a", "b")


def test_two_votes_of_one_assessor_on_an_item_are_refused():
    votes = votes_of([(1, 2)])

    with pytest.raises(ValueError, match="two votes on one item"):
        fleiss_kappa(pl.concat([votes, votes]))


def test_a_third_assessor_does_not_change_the_kappa_of_two():
    rows = [(1, 2, 0), (0, 0, 3), (3, 3, 3), (2, 1, 1)]

    pairs = list(combinations("abc", 2))
    for place in range(3):
        two = [tuple(row["abc".index(name)] for name in pairs[place]) for row in rows]
        kappa = cohen_kappa(votes_of(rows), *pairs[place])
        assert kappa == cohen_kappa(votes_of(two), "a", "b")
