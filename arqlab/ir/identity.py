"""Which instances show the same formula (stand-in until the whole module joins)."""

from typing import NamedTuple

import polars as pl


class VisualMap(NamedTuple):
    """Visual ids of instances, and how they came about."""

    mapping: pl.DataFrame
    forms: pl.DataFrame
    changes: pl.DataFrame
    opinion: pl.DataFrame


def visual_map(
    instances: pl.DataFrame,
    *,
    previous: pl.DataFrame | None = None,
    relevance: pl.DataFrame | None = None,
    above: int = 0,
) -> VisualMap:
    """Group instances by layout, else by LaTeX without white space; given ids go before previous ones, these before new."""
    key = pl.coalesce("layout", pl.concat_str(pl.lit("tex:"), pl.col("latex").str.replace_all(r"\s", "")))
    rows = instances.with_columns(key=key)
    before = (
        previous if previous is not None else pl.DataFrame(schema={"formula_id": pl.String, "visual_id": pl.String})
    )
    rows = rows.join(before.rename({"visual_id": "previous"}), on="formula_id", how="left", maintain_order="left")
    known = rows.group_by("key", maintain_order=True).agg(
        id=pl.coalesce(pl.col("given").drop_nulls().first(), pl.col("previous").drop_nulls().first())
    )
    top = pl.concat([rows["given"], rows["previous"]]).cast(pl.Int64, strict=False).max() or 0
    top = max(top, above)
    fresh = pl.when(pl.col("id").is_null()).then(pl.col("id").is_null().cum_sum() + top).cast(pl.String)
    known = known.with_columns(id=pl.coalesce("id", fresh))
    rows = rows.join(known, on="key", how="left", maintain_order="left")
    rows = rows.with_columns(visual_id=pl.coalesce("given", "id"))
    forms = rows.group_by("visual_id", maintain_order=True).agg(
        pl.col("latex").first(),
        pl.col("layout").first(),
        instances=pl.len(),
        first_formula_id=pl.col("formula_id").first(),
    )
    moved = rows.filter(pl.col("previous") != pl.col("visual_id"))
    changes = moved.select(
        change=pl.when(pl.col("visual_id").is_in(before["visual_id"].implode()))
        .then(pl.lit("merge"))
        .otherwise(pl.lit("split")),
        formula_id="formula_id",
        old_visual_id="previous",
        new_visual_id="visual_id",
    )
    merges = (
        rows.drop_nulls("given")
        .group_by("key", maintain_order=True)
        .agg(
            visual_ids=pl.col("given").unique(maintain_order=True),
            formula_ids=pl.col("formula_id"),
            latex=pl.col("latex").unique(maintain_order=True),
            instances=pl.len(),
        )
    )
    opinion = merges.filter(pl.col("visual_ids").list.len() > 1).select(
        pl.lit("would merge").alias("kind"), "visual_ids", "formula_ids", "latex", "instances"
    )
    return VisualMap(rows.select("formula_id", "visual_id"), forms, changes, opinion)
