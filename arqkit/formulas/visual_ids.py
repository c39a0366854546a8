"""Visually distinct formulas: replace formula instances by visual ids (protocol §8; 000 §5.4).

A mapping has the columns formula_id and visual_id. An instance without a visual id counts as a
formula of its own.
"""

import polars as pl

from arqkit.labels import LabelScale
from arqkit.ranking import OrderBy, with_order


def distinct_visual(
    index: pl.DataFrame, mapping: pl.DataFrame | None, *, by: OrderBy = "score"
) -> pl.DataFrame:
    """Return a run's index (ordered `by`) with one row for each visual id of a topic, reordered.

    Each visual id keeps its highest-ranked instance, with all other columns of that row. Ties
    between visual ids are broken by visual id, not by formula id (see `with_order`), as in the
    labs' pipeline, which hands visual ids and their best scores to trec_eval. Without a mapping,
    the items are taken to be visual ids.
    """
    rows = _with_visual_items(index, mapping).sort("topic", "order")
    kept = rows.unique(["topic", "item"], keep="first", maintain_order=True)
    return with_order(kept, by=by)


def as_formulas(judged: pl.DataFrame, mapping: pl.DataFrame) -> pl.DataFrame:
    """Return judged rows with `item` set to the current visual id of each instance (`doc_id`).

    An instance without a visual id becomes its own item.
    """
    named = _with_visual_items(judged.with_columns(item="doc_id"), mapping)
    return named.select(judged.columns)


def highest_labels(rows: pl.DataFrame, scale: LabelScale) -> pl.DataFrame:
    """Return the highest label of each item: topic, item, label; in the order of the rows.

    An item without any judgment keeps its label that is not a judgment (protocol §7).
    """
    judged = pl.col("label").filter(scale.is_judged()).max()
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
