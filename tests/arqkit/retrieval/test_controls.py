"""Random order, a bag of symbols, the ideal order, and answers of linked posts."""

import polars as pl
import pytest

from arqkit.formats.qrels.read import read_qrels
from arqkit.formats.topics.files import read_topics
from arqkit.formulas.layout import layout_string
from arqkit.formulas.similarity import layout_symbols
from arqkit.measures.scoring import ceilings
from arqkit.protocols.presets import PRIMES
from arqkit.retrieval.controls import linked_answers_by_votes, shuffled_items
from benchmarks.labs.results import bag_of_symbols, ideal_order, results_table
from tests.arqkit.retrieval.sample import EDITIONS, qrels_of, sample_answers, topics_of
from tests.real_data import DATA, needs_data

FORMULA_TOPICS, FORMULA_QRELS = "arqmath-3/topics.task2.xml", "arqmath-3/qrels.task2.visual-v3.tsv"
ITEMS = pl.Series([str(number) for number in range(50)])
ANSWERS = pl.DataFrame(
    [("10", "11", 3), ("10", "12", None), ("20", "21", 7), ("30", "31", 9)],
    schema=["thread", "item", "score"],
    orient="row",
)
BY_CHANCE = {1: 0.53, 2: 0.52, 3: 0.60}
"""nDCG' of random order on the judged answers of the sample, as a pilot found it."""


def read_columns(name: str) -> pl.DataFrame:
    """Return a real formula index."""
    return pl.read_csv(DATA / name, separator="\t", infer_schema=False)


def symbols_of(mathml: str) -> list[str]:
    return layout_symbols(layout_string(mathml) or "")


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


@needs_data
def test_a_bag_of_symbols_beats_random_order_on_the_formulas_of_the_sample():
    indexed = read_columns("collection/formulas.slt.tsv.gz").unique("visual_id", keep="first")
    qrels = read_qrels((DATA / FORMULA_QRELS).read_bytes(), path=FORMULA_QRELS)
    judged = indexed.filter(pl.col("visual_id").is_in(qrels["item"].unique().to_list()))
    topics = read_topics((DATA / FORMULA_TOPICS).read_bytes(), path=FORMULA_TOPICS, formulas=True)
    asked = dict(read_columns("arqmath-3/topic-formulas.slt.tsv.gz").select("id", "formula").rows())
    queries = {topic.query_id: symbols_of(asked[topic.formula_id or ""]) for topic in topics}
    formulas = judged.select("visual_id", "formula").rows()
    rankings = {
        "random": shuffled_items(queries, judged["visual_id"], seed=0),
        "bag": bag_of_symbols(queries, ((item, symbols_of(mathml)) for item, mathml in formulas)),
    }

    items = judged["visual_id"].to_list()
    table = results_table(rankings, qrels, items=items, against="random", measures=PRIMES[:1])
    assert table["difference_low"][1] > 0


def test_linked_posts_are_the_answers_of_duplicates_by_votes_in_either_direction():
    links = [("1", "10"), ("20", "1"), ("1", "20"), ("2", "30"), ("1", "1")]
    ranking = linked_answers_by_votes({"A.1": "1", "A.2": "5"}, links, ANSWERS)

    assert ranking.rows() == [("A.1", "21", 7.0), ("A.1", "11", 3.0), ("A.1", "12", 0.0)]


def test_without_links_no_answer_is_listed():
    assert linked_answers_by_votes({"A.1": "1"}, [], ANSWERS).is_empty()
    assert linked_answers_by_votes({}, [("1", "10")], ANSWERS).is_empty()
