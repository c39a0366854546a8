"""Look up the items of a run in the collection."""

import numpy as np
import polars as pl

HASHES = 2**22  # a power of two, well above the number of items of a run
OMITTED = 0.1
"""The largest part of the rows that a repair omits: more is a fault of the system, not a slip."""


def looked_up(entries: pl.DataFrame | pl.LazyFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the entries of the collection that the run names, and possibly a few more."""
    if isinstance(entries, pl.LazyFrame):
        return entries.join(
            rows.lazy().select(pl.col("item").unique()), on="item", how="semi"
        ).collect()
    # A join would build a table of a million hashes. Comparing their last bits takes a fifth of it.
    is_named = np.zeros(HASHES, dtype=np.bool_)
    is_named[rows["item"].hash().to_numpy() & (HASHES - 1)] = True
    return entries.filter(is_named[entries["item"].hash().to_numpy() & (HASHES - 1)])


def with_homes(rows: pl.DataFrame, formulas: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Return the rows with `home`, the post of their formula, which is null for unknown ones."""
    known = looked_up(formulas.select(item="formula_id", home="post_id"), rows)
    return rows.select("line", "topic", "item", "post").join(known, on="item", how="left")


def wrong_posts(found: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """Return the rows whose formula is in another post, and whether a repair may omit them."""
    wrong = found.filter((pl.col("post") != pl.col("home")) & (pl.col("post") != ""))
    return wrong, wrong.height <= OMITTED * found.height
