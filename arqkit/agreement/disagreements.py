"""Items whose votes differ, for meetings and adjudication (000 §4.5, 004 §4.5)."""

import polars as pl


def disagreements(votes: pl.DataFrame, *, relevant_from: int) -> pl.DataFrame:
    """Return the items with different labels, largest difference first.

    The result has the columns:

    - item
    - votes: the number of votes.
    - lowest, highest: the lowest and the highest label.
    - spread: their difference.
    - is_binary: whether somebody considers the item relevant and somebody else does not.

    Among equal differences, binary disagreements come first, then items in alphabetical order.
    Remove labels that are not judgments first (`judgments_only`).
    """
    label = pl.col("label").cast(pl.Int64)
    items = votes.group_by("item").agg(
        votes=pl.len(), lowest=label.min(), highest=label.max(), spread=label.max() - label.min()
    )
    is_binary = (pl.col("lowest") < relevant_from) & (pl.col("highest") >= relevant_from)
    return (
        items.filter(pl.col("spread") > 0)
        .with_columns(is_binary=is_binary)
        .sort("spread", "is_binary", "item", descending=[True, True, False])
    )
