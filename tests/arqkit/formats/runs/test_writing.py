"""Rankings as run files."""

import polars as pl

from arqkit.formats.runs.writing import run_of_ranking


def test_a_run_has_the_first_items_of_each_topic_in_the_order_of_trec_eval():
    rows = [("A.2", "7", 1.0), ("A.1", "8", 0.5), ("A.1", "9", 0.5), ("A.1", "3", 2.5)]
    ranking = pl.DataFrame(rows, schema=["topic", "item", "score"], orient="row")

    lines = run_of_ranking(ranking, tag="bm25", limit=2).decode().splitlines()
    assert [line.split("\t") for line in lines] == [
        ["A.1", "Q0", "3", "1", "2.5", "bm25"],
        ["A.1", "Q0", "9", "2", "0.5", "bm25"],
        ["A.2", "Q0", "7", "1", "1.0", "bm25"],
    ]
