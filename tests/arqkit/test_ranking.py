"""Ranked lists are in trec_eval's order."""

import polars as pl
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from arqkit.ranking import with_order

ITEMS = st.text("ab19é–:", min_size=1, max_size=3)
SCORES = st.sampled_from(
    [0.0, -0.0, 1.0, 0.123456789, 0.123456788, 20000000.5, 20000000.0, -3.5, 1e-50, 1e30]
)
LISTS = st.dictionaries(
    st.tuples(st.sampled_from(["A.1", "A.10", "A.2"]), ITEMS), SCORES, min_size=1, max_size=12
)


def a_frame(scores: dict[tuple[str, str], float]) -> pl.DataFrame:
    rows = [
        (topic, item, rank, score)
        for rank, ((topic, item), score) in enumerate(scores.items(), start=1)
    ]
    return pl.DataFrame(rows, schema=["topic", "item", "rank", "score"], orient="row")


def order_of(frame: pl.DataFrame, topic: str = "A.1") -> list[str]:
    return frame.filter(pl.col("topic") == topic)["item"].to_list()


@given(LISTS)
def test_the_order_of_each_topic_is_a_permutation_of_1_to_n(scores):
    ordered = with_order(a_frame(scores))

    for _, part in ordered.group_by("topic"):
        assert part["order"].to_list() == list(range(1, part.height + 1))


@given(LISTS)
def test_the_order_is_that_of_the_pytrec_eval_wheel(scores):
    for topic, item, order in (
        with_order(a_frame(scores)).select("topic", "item", "order").iter_rows()
    ):
        run = {topic: {other: score for (of, other), score in scores.items() if of == topic}}
        evaluator = pytrec_eval.RelevanceEvaluator({topic: {item: 1}}, {"recip_rank"})

        assert abs(evaluator.evaluate(run)[topic]["recip_rank"] - 1 / order) < 1e-9


@given(LISTS, st.randoms())
def test_the_order_does_not_depend_on_the_order_of_the_lines(scores, chance):
    frame = a_frame(scores)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=chance.randrange(1000))

    assert with_order(frame).equals(with_order(shuffled))


def test_equal_scores_are_ordered_by_id_descending():
    frame = a_frame({("A.1", "10"): 1.0, ("A.1", "9"): 1.0, ("A.1", "é"): 1.0})

    assert order_of(with_order(frame)) == ["é", "9", "10"]


def test_scores_that_differ_beyond_32_bits_tie():
    frame = a_frame({("A.1", "1"): 0.123456789, ("A.1", "2"): 0.123456788})

    assert order_of(with_order(frame)) == ["2", "1"]


def test_the_submitted_rank_counts_only_on_request():
    frame = a_frame({("A.1", "low"): 1.0, ("A.1", "high"): 2.0})

    assert order_of(with_order(frame)) == ["high", "low"]
    assert order_of(with_order(frame, by="rank")) == ["low", "high"]


def test_equal_ranks_are_ordered_by_score():
    frame = a_frame({("A.1", "low"): 1.0, ("A.1", "high"): 2.0}).with_columns(rank=pl.lit(1))

    assert order_of(with_order(frame, by="rank")) == ["high", "low"]


def test_a_line_without_a_score_or_rank_comes_last_in_its_topic():
    frame = a_frame({("A.1", "none"): 1.0, ("A.1", "low"): 1.0, ("A.1", "high"): 2.0})
    is_named = pl.col("item") == "none"
    unscored = frame.with_columns(score=pl.when(~is_named).then("score"))
    unranked = frame.with_columns(rank=pl.when(~is_named).then("rank"))

    assert order_of(with_order(unscored)) == ["high", "low", "none"]
    assert order_of(with_order(unranked, by="rank")) == ["low", "high", "none"]


@pytest.mark.parametrize("by", ["score", "rank"])
def test_rows_are_sorted_by_topic_and_then_by_order(by):
    frame = a_frame({("B.2", "1"): 1.0, ("B.1", "2"): 2.0, ("B.2", "3"): 3.0, ("B.1", "4"): 4.0})

    rows = with_order(frame, by=by).select("topic", "order").rows()

    assert rows == [("B.1", 1), ("B.1", 2), ("B.2", 1), ("B.2", 2)]
