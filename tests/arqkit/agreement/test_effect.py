"""The effect of judgments on the ranking of systems agrees with scipy and the definitions."""

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from arqkit.comparison.correlation import ranking_effects

SCHEMA = {"run": pl.String, "measure": pl.String, "value": pl.Float64}
# Few different values, so that many runs are tied.
tied = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)
orders = st.integers(2, 9).flatmap(lambda size: st.permutations(range(size)))


def scores(values, measure="AP"):
    rows = [(f"r{place}", measure, value) for place, value in enumerate(values)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def effect(first, second):
    return ranking_effects(scores(first), scores(second))["AP"]


@given(tied)
def test_tau_is_that_of_scipy(pairs):
    first, second = zip(*pairs, strict=True)
    assume(len(set(first)) > 1 and len(set(second)) > 1)

    assert effect(first, second).tau == pytest.approx(kendalltau(first, second).statistic)


@given(tied)
def test_a_swap_is_a_pair_in_the_opposite_order(pairs):
    first, second = zip(*pairs, strict=True)
    expected = {
        (f"r{i}", f"r{j}")
        for i in range(len(pairs))
        for j in range(len(pairs))
        if first[i] > first[j] and second[i] < second[j]
    }

    found = effect(first, second).swaps
    assert set(found) == expected
    assert len(found) == len(expected)


def test_swaps_of_the_best_runs_come_first():
    assert effect([1, 2, 3, 4], [2, 1, 4, 3]).swaps == (("r3", "r2"), ("r1", "r0"))


@given(orders)
def test_tau_ap_is_as_defined_by_yilmaz(order):
    """2 / (N - 1) * the sum of C(i) / (i - 1) - 1 over the places i > 1 of the second ranking.

    C(i) is the number of runs above place i that are above its run in the first ranking, too.
    """
    # Run r has the value -r in the first ranking and is at place order.index(r) of the second.
    total = sum(
        sum(above < order[place] for above in order[:place]) / place
        for place in range(1, len(order))
    )
    second = [-order.index(run) for run in range(len(order))]

    found = effect([-run for run in range(len(order))], second).tau_ap
    assert found == pytest.approx(2 / (len(order) - 1) * total - 1)


@given(orders)
def test_the_same_ranking_has_no_swap_and_the_opposite_swaps_every_pair(order):
    same, opposite = effect(order, order), effect(order, [-value for value in order])

    assert (same.tau, same.tau_ap, same.swaps) == (pytest.approx(1), pytest.approx(1), ())
    assert (opposite.tau, opposite.tau_ap) == (pytest.approx(-1), pytest.approx(-1))
    assert len(opposite.swaps) == len(order) * (len(order) - 1) / 2


@given(tied)
def test_tau_is_symmetric(pairs):
    first, second = zip(*pairs, strict=True)

    assert effect(first, second).tau == effect(second, first).tau


def test_an_error_at_the_top_weighs_more_in_tau_ap():
    at_the_top, at_the_end = effect([4, 3, 2, 1], [3, 4, 2, 1]), effect([4, 3, 2, 1], [4, 3, 1, 2])

    assert at_the_top.tau == at_the_end.tau
    assert at_the_top.tau_ap < at_the_end.tau_ap


@pytest.mark.parametrize("values", [([1, 1, 2], [1, 2, 3]), ([1, 2, 3], [1, 1, 2])])
def test_ties_have_a_tau_and_no_tau_ap(values):
    found = effect(*values)

    assert found.tau == pytest.approx(kendalltau(*values).statistic)
    assert found.tau_ap is None


@pytest.mark.parametrize("values", [([0.5], [0.6]), ([1, 1], [1, 2])])
def test_a_single_run_or_equal_values_have_no_tau(values):
    assert effect(*values).tau is None


def test_measures_and_runs_in_one_of_the_frames_are_left_out():
    first = pl.concat([scores([1, 2, 3]), scores([3, 2, 1], "P@10"), scores([1, 2], "RR")])
    second = pl.concat([scores([1, 2], "P@10"), scores([1, 2])])
    found = ranking_effects(first, second)

    assert {measure: (each.runs, each.tau) for measure, each in found.items()} == {
        "AP": (2, pytest.approx(1)),
        "P@10": (2, pytest.approx(-1)),
    }
