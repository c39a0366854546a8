"""Combinations of two rankings."""

import polars as pl
import pytest

from arqkit.retrieval.rankings import min_max_average, reciprocal_rank_fusion


def a_ranking(**scores: float) -> pl.DataFrame:
    return pl.DataFrame({"topic": "A.1", "item": list(scores), "score": list(scores.values())})


FIRST = a_ranking(a=10.0, b=6.0, c=2.0)
SECOND = a_ranking(d=0.9, b=0.8, a=0.1)


def test_scores_between_0_and_1_are_averaged_and_a_missing_item_has_0():
    combined = min_max_average([FIRST, SECOND])

    assert combined["item"].to_list() == ["b", "d", "a", "c"]
    assert combined["score"].to_list() == pytest.approx([(0.5 + 0.875) / 2, 0.5, 0.5, 0.0])


def test_equal_scores_count_as_the_best():
    assert min_max_average([FIRST, a_ranking(c=3.0)])["score"].to_list() == [0.5, 0.5, 0.25]


def test_topics_are_normalized_by_themselves():
    other = SECOND.with_columns(topic=pl.lit("A.2"))
    combined = min_max_average([pl.concat([FIRST, other]), FIRST])

    assert combined.filter(pl.col("topic") == "A.2")["score"].to_list()[0] == 0.5


def test_reciprocal_rank_fusion_adds_reciprocals_of_60_plus_the_rank():
    combined = reciprocal_rank_fusion([FIRST, SECOND])

    assert combined["item"].to_list() == ["a", "b", "d", "c"]
    assert combined["score"].to_list() == pytest.approx([1 / 61 + 1 / 63, 2 / 62, 1 / 61, 1 / 63])


@pytest.mark.parametrize("combine", [min_max_average, reciprocal_rank_fusion])
def test_a_combination_is_cut_to_the_limit(combine):
    assert combine([FIRST, SECOND], limit=2).height == 2
