"""Random order, a bag of symbols, the ideal order, and answers of linked posts."""

import polars as pl
import pytest

from arqkit.measures.scoring import ceilings
from arqkit.protocols.presets import PRIMES
from arqkit.retrieval.controls import (
    bag_of_symbols,
    ideal_order,
    linked_answers_by_votes,
    shuffled_items,
)
from arqkit.retrieval.results import results_table
from tests.arqkit.retrieval.sample import EDITIONS, qrels_of, sample_answers, topics_of
from tests.real_data import needs_data

ITEMS = pl.Series([str(number) for number in range(50)])
ANSWERS = pl.DataFrame(
    [("10", "11", 3), ("10", "12", None), ("20", "21", 7), ("30", "31", 9)],
    schema=["thread", "item", "score"],
    orient="row",
)
BY_CHANCE = {1: 0.53, 2: 0.52, 3: 0.60}
"""nDCG' of random order on the judged answers of the sample, as a pilot found it."""


def test_random_order_depends_on_the_seed_and_the_topic_alone():
    first = shuffled_items(["A.1", "A.2"], ITEMS, seed=3)

    assert first.filter(pl.col("topic") == "A.2").equals(shuffled_items(["A.2"], ITEMS, seed=3))
    assert not first.equals(shuffled_items(["A.1", "A.2"], ITEMS, seed=4))
    assert sorted(first["item"].head(50)) == sorted(ITEMS)
    assert first["item"].head(50).to_list() != first["item"].tail(50).to_list()


@needs_data
@pytest.mark.parametrize("edition", EDITIONS)
def test_random_order_scores_high_on_the_sample(edition):
    items = pl.Series([item for item, _, _ in sample_answers()])
    topics = [topic.query_id for topic in topics_of(edition)]
    draws = {
        str(seed): shuffled_items(topics, items, seed=seed, limit=len(items)) for seed in range(9)
    }

    table = results_table(draws, qrels_of(edition), measures=PRIMES[:1])
    assert table["mean"].mean() == pytest.approx(BY_CHANCE[edition], abs=0.015)


@needs_data
@pytest.mark.parametrize("edition", EDITIONS)
def test_the_ideal_order_reaches_the_ceilings(edition):
    qrels = qrels_of(edition)
    table = results_table({"ideal": ideal_order(qrels)}, qrels)

    assert dict(zip(table["measure"], table["mean"], strict=True)) == pytest.approx(
        ceilings(qrels, PRIMES)
    )


def test_a_bag_of_symbols_ranks_by_the_cosine_of_counts():
    formulas = [("other", "zz"), ("half", "xz"), ("same", "+xx"), ("order", "x+x")]
    ranking = bag_of_symbols({"B.1": "x+x", "B.2": "q"}, formulas)

    assert ranking["item"].to_list() == ["same", "order", "half"]
    assert ranking["score"].to_list() == pytest.approx([1, 1, 2 / (5**0.5 * 2**0.5)])


def test_linked_posts_are_the_answers_of_duplicates_by_votes_in_either_direction():
    links = [("1", "10"), ("20", "1"), ("1", "20"), ("2", "30"), ("1", "1")]
    ranking = linked_answers_by_votes({"A.1": "1", "A.2": "5"}, links, ANSWERS)

    assert ranking.rows() == [("A.1", "21", 7.0), ("A.1", "11", 3.0), ("A.1", "12", 0.0)]


def test_without_links_no_answer_is_listed():
    assert linked_answers_by_votes({"A.1": "1"}, [], ANSWERS).is_empty()
    assert linked_answers_by_votes({}, [("1", "10")], ANSWERS).is_empty()
