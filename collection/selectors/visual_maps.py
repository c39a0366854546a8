"""Queries on the versions of a collection's visual ids."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import polars as pl

from collection.models import Collection, VisualMap
from collection.selectors.collections import scan_columns

ROWS_AT_ONCE = 2**20
"""The most rows of a frame of `mapping_parts`: a collection has 28 million instances."""
OPINION: Final[Mapping[str, pl.DataType | type[pl.DataType]]] = {
    "kind": pl.String,
    "visual_ids": pl.List(pl.String),
    "formula_ids": pl.List(pl.String),
    "latex": pl.List(pl.String),
    "instances": pl.UInt32,
}


class JudgedFormula(NamedTuple):
    """Facts from judgments that constrain visual ids.

    `relevance` (formula_id, label) breaks ties between equally large parts of a split formula.
    `highest_id` is the highest number of a judged visual id. New ids are above it, so that none is
    mistaken for a judged formula.
    """

    relevance: pl.DataFrame | None = None
    highest_id: int = 0


def newest_map(collection: Collection) -> VisualMap | None:
    """Return the newest version of the visual ids, the one in use, or None."""
    return VisualMap.objects.filter(collection=collection).order_by("-version").first()


def map_before(version: VisualMap) -> VisualMap | None:
    """Return the previous version, or None."""
    earlier = VisualMap.objects.filter(
        collection=version.collection_id, version__lt=version.version
    )
    return earlier.order_by("-version").first()


def map_frame(version: VisualMap, field: str) -> pl.DataFrame:
    """Return a frame of a version (`arqkit.formulas.visual_ids`), such as `mapping`."""
    return scan_columns(getattr(version, field)).collect()


def mapping_parts(version: VisualMap) -> Iterator[pl.DataFrame]:
    """Yield formula_id and visual_id of all instances in frames of limited size, one at least."""
    mapping = scan_columns(version.mapping).select("formula_id", "visual_id")
    start = 0
    while (part := mapping.slice(start, ROWS_AT_ONCE).collect()).height or not start:
        yield part
        start += ROWS_AT_ONCE


def changed_formulas(version: VisualMap) -> pl.DataFrame:
    """Return the merges and splits of a version, the largest first.

    Columns: change, old_visual_id, new_visual_id, instances, old_latex and new_latex (the most
    frequent LaTeX).
    """
    changes = scan_columns(version.changes).group_by("change", "old_visual_id", "new_visual_id")
    counted = changes.agg(instances=pl.len()).collect()
    return counted.with_columns(
        old_latex=formula_latex(map_before(version), counted["old_visual_id"]),
        new_latex=formula_latex(version, counted["new_visual_id"]),
    ).sort(
        "change",
        "instances",
        "old_visual_id",
        "new_visual_id",
        descending=[False, True, False, False],
    )


def formula_latex(version: VisualMap | None, ids: pl.Series) -> pl.Series:
    """Return the most frequent LaTeX of each visual id, empty where the version lacks the id."""
    latex_by_id = {}
    if version:
        is_asked = pl.col("visual_id").is_in(ids.unique().implode())
        forms = scan_columns(version.forms).filter(is_asked)
        latex_by_id = dict(
            forms.select("visual_id", pl.col("latex").fill_null("")).collect().iter_rows()
        )
    return ids.replace_strict(latex_by_id, default="", return_dtype=pl.String)


def opinion_rows(version: VisualMap) -> pl.DataFrame:
    """Return the places where ArqLab would group the instances of given ids differently."""
    return map_frame(version, "opinion") if version.opinion else pl.DataFrame(schema=OPINION)


def map_table(version: VisualMap, field: str) -> pl.DataFrame:
    """Return a frame of a version for export, with lists joined by spaces."""
    frame = opinion_rows(version) if field == "opinion" else map_frame(version, field)
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    return frame.with_columns(pl.col(lists).cast(pl.List(pl.String)).list.join(" "))
