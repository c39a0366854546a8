"""Visually distinct formulas: formula instances turned into the formulas that they show (protocol
§8; 000 §5.4).

A mapping has the columns formula_id and visual_id. An instance without a visual id stands for
itself.
"""

import polars as pl

from arqlab.ir.labels import NOT_JUDGMENTS


def distinct_visual(index: pl.DataFrame, mapping: pl.DataFrame | None) -> pl.DataFrame:
    """Turn the instances of a run's index into visual ids, keep the first of each topic from the
    top down, renumber.

    Without a mapping the items are taken as visual ids already. All other columns are those of the
    kept instance.
    """
    rows = _with_visual_items(index, mapping).sort("topic", "order")
    kept = rows.unique(["topic", "item"], keep="first", maintain_order=True)
    return kept.with_columns(order=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("topic"))


def as_formulas(judged: pl.DataFrame, mapping: pl.DataFrame) -> pl.DataFrame:
    """Return anew of which formula (item) each judged instance (doc_id) is; one without a visual id is
    its own.
    """
    named = _with_visual_items(judged.with_columns(item="doc_id"), mapping)
    return named.select(judged.columns)


def highest_labels(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each item of a topic the highest label of its judged rows (topic, item, label), in the
    rows' order.

    An item of which nothing was judged keeps its 5 or 6 (protocol §7).
    """
    judged = pl.col("label").filter(~pl.col("label").is_in(NOT_JUDGMENTS)).max()
    return rows.group_by("topic", "item", maintain_order=True).agg(
        judged.fill_null(pl.col("label").max())
    )


def _with_visual_items(rows: pl.DataFrame, mapping: pl.DataFrame | None) -> pl.DataFrame:
    if mapping is None:
        return rows
    known = (
        mapping.select(item=pl.col("formula_id"), visual=pl.col("visual_id"))
        .drop_nulls()
        .unique("item")
    )
    joined = rows.join(known, on="item", how="left", maintain_order="left")
    return joined.with_columns(item=pl.coalesce("visual", "item")).drop("visual")
