"""What is read of the versions of a collection's visual ids."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from collection.models import Collection, VisualMap
from collection.selectors.collections import scan_columns


class JudgedFormula(NamedTuple):
    """What judgments tell about formulas.

    `relevance` (formula_id, label) decides between parts of a formula that are equally large.
    `highest_id` is the highest number among judged visual ids: new ids are above it, so that none
    is taken for a judged formula.
    """

    relevance: pl.DataFrame | None = None
    highest_id: int = 0


def newest_map(collection: Collection) -> VisualMap | None:
    """Return the newest version of the visual ids, the one that is used; None before the first."""
    return VisualMap.objects.filter(collection=collection).order_by("-version").first()


def map_before(version: VisualMap) -> VisualMap | None:
    """Return the version before one; None before the first."""
    earlier = VisualMap.objects.filter(
        collection=version.collection_id, version__lt=version.version
    )
    return earlier.order_by("-version").first()


def map_frame(version: VisualMap, field: str) -> pl.DataFrame:
    """Return a frame of a version: `mapping`, `forms`, `changes` or `opinion`
    (`arqlab.ir.formulas.identity` names the columns).
    """
    return scan_columns(getattr(version, field)).collect()


def changed_formulas(version: VisualMap) -> pl.DataFrame:
    """Return what a version merged and split: change, old_visual_id, new_visual_id, instances; the
    largest first.
    """
    changes = scan_columns(version.changes).group_by("change", "old_visual_id", "new_visual_id")
    counted = changes.agg(instances=pl.len())
    return counted.sort(
        "change",
        "instances",
        "old_visual_id",
        "new_visual_id",
        descending=[False, True, False, False],
    ).collect()


def with_formulas(version: VisualMap, rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return rows of `changed_formulas` with old_latex and new_latex, those of most instances in
    their versions.
    """
    earlier = map_before(version)
    new = formula_latex(version, rows["new_visual_id"])
    old = formula_latex(earlier, rows["old_visual_id"]) if earlier else {}
    return [
        row
        | {
            "old_latex": old.get(row["old_visual_id"], ""),
            "new_latex": new.get(row["new_visual_id"], ""),
        }
        for row in rows.to_dicts()
    ]


def formula_latex(version: VisualMap, ids: pl.Series) -> dict[str, str]:
    """Return the LaTeX of visual ids, that of most of their instances; ids that the version does not
    have are left out.
    """
    forms = scan_columns(version.forms).filter(pl.col("visual_id").is_in(ids.unique().implode()))
    return dict(forms.select("visual_id", pl.col("latex").fill_null("")).collect().iter_rows())


def opinion_rows(version: VisualMap) -> pl.DataFrame:
    """Return where we would group the instances of given ids otherwise."""
    return map_frame(version, "opinion") if version.opinion else pl.DataFrame()


def map_table(version: VisualMap, field: str) -> pl.DataFrame:
    """Return a frame of a version for a file: lists become words with blanks between them."""
    frame = opinion_rows(version) if field == "opinion" else map_frame(version, field)
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    return frame.with_columns(pl.col(lists).cast(pl.List(pl.String)).list.join(" "))
