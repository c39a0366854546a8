"""The similarity of rankings: laws, and sums written as in the paper."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.comparison.correlation import jaccard, rank_biased_overlap

LISTS = st.lists(st.sampled_from("abcdefghij"), min_size=1, unique=True)


def ranking(**topics: str) -> pl.DataFrame:
    rows = [
        (topic, item, order)
        for topic, items in topics.items()
        for order, item in enumerate(items, start=1)
    ]
    return pl.DataFrame(rows, schema=["topic", "item", "order"], orient="row")


def webber(one, other, p):
    """Return equation 32 of Webber et al., term by term."""
    short, long = sorted((one, other), key=len)
    s, l = len(short), len(long)  # noqa: E741

    def x(depth):
        return len(set(short[:depth]) & set(long[:depth]))

    total = sum(x(d) / d * p**d for d in range(1, l + 1))
    total += sum(x(s) * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
    return (1 - p) / p * total + ((x(l) - x(s)) / l + x(s) / s) * p**l


@given(LISTS, LISTS, st.sampled_from([0.5, 0.8, 0.9, 0.98]))
def test_overlap_is_the_sum_of_the_paper(one, other, p):
    found = rank_biased_overlap(ranking(t=one), ranking(t=other), persistence=p)

    assert found == {"t": pytest.approx(webber(one, other, p), abs=1e-12)}


@given(LISTS, LISTS)
def test_overlap_does_not_depend_on_the_order_of_the_runs(one, other):
    found = [
        rank_biased_overlap(ranking(t=a), ranking(t=b)) for a, b in ((one, other), (other, one))
    ]

    assert found[0] == found[1]


@given(LISTS)
def test_a_run_overlaps_with_itself(items):
    assert rank_biased_overlap(ranking(t=items), ranking(t=items)) == {"t": pytest.approx(1)}
    assert jaccard(ranking(t=items), ranking(t=items), cutoff=3) == {"t": 1.0}


@given(LISTS, LISTS, st.integers(1, 12))
def test_jaccard_is_that_of_the_sets_of_the_top(one, other, cutoff):
    top = set(one[:cutoff]), set(other[:cutoff])

    found = jaccard(ranking(t=one), ranking(t=other), cutoff=cutoff)
    assert found == {"t": pytest.approx(len(top[0] & top[1]) / len(top[0] | top[1]))}


def test_only_topics_of_both_runs_are_compared():
    one, other = ranking(t="abc", u="ab"), ranking(u="xy", v="a")

    assert rank_biased_overlap(one, other) == jaccard(one, other, cutoff=2) == {"u": 0.0}
