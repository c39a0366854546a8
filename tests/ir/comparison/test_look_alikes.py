"""The similarity of all pairs of rankings, against the similarity of two."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from arqlab.ir.comparison.look_alikes import mean_jaccards
from arqlab.ir.comparison.similarity import jaccard
from tests.ir.comparison.test_similarity import ranking

LISTS = st.lists(st.sampled_from("abcdef"), min_size=1, unique=True)
RUNS = st.lists(
    st.dictionaries(st.sampled_from(["t", "u"]), LISTS, min_size=1), min_size=2, max_size=4
)


@given(RUNS, st.integers(1, 4))
def test_each_pair_has_the_mean_over_the_topics_of_either(runs, cutoff):
    frames = [ranking(**run) for run in runs]
    found = mean_jaccards(frames, cutoff=cutoff)

    for one in range(len(runs)):
        for other in range(len(runs)):
            of_both = jaccard(frames[one], frames[other], cutoff=cutoff)
            topics = runs[one].keys() | runs[other].keys()
            np.testing.assert_allclose(found[one, other], sum(of_both.values()) / len(topics))


def test_no_rankings_and_rankings_without_items_have_no_similarity():
    nothing = ranking(t="a").clear()
    assert mean_jaccards([], cutoff=10).shape == (0, 0)
    assert mean_jaccards([nothing, ranking(t="a")], cutoff=10).tolist() == [[0, 0], [0, 1]]
    assert mean_jaccards([nothing, nothing], cutoff=10).tolist() == [[0, 0], [0, 0]]


def test_a_run_is_like_itself():
    frame = ranking(t="abc", u="d").with_columns(pl.col("order").cast(pl.Int32))
    assert mean_jaccards([frame, frame], cutoff=2).tolist() == [[1, 1], [1, 1]]
