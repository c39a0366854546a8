"""Write a ranking as a run file that every task with ids takes: the TREC format."""

import polars as pl

from arqkit.ranking import with_order

MOST_ITEMS = 1_000
"""The most items of a topic in a run (protocol §4)."""


def run_of_ranking(ranking: pl.DataFrame, *, tag: str, limit: int = MOST_ITEMS) -> bytes:
    """Return the run file of a ranking (topic, item, score), as `arqkit.formats.runs.formats.TREC`.

    Each topic has its first `limit` items in the order of `with_order`, with ranks from 1.
    """
    ordered = with_order(ranking).filter(pl.col("order") <= limit)
    lines = ordered.select("topic", pl.lit("Q0").alias("q0"), "item", "order", "score")
    text = lines.with_columns(tag=pl.lit(tag)).write_csv(
        separator="\t", include_header=False, quote_style="never"
    )
    return text.encode()
