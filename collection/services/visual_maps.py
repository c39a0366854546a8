"""Numbered, immutable versions of a collection's visual ids."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

import polars as pl
from django.db import transaction

from arqkit.formulas import identity
from collection.models import Collection, VisualMap
from collection.selectors.collections import scan_columns
from collection.selectors.visual_maps import JudgedFormula, map_frame, newest_map
from collection.services.converting import convert_latex, converted_latex
from collection.services.importing.import_records import Progress
from collection.services.parquet_files import store_frame


def make_visual_map(
    *,
    collection: Collection,
    at: datetime,
    judged: JudgedFormula | None = None,
    again: bool = False,
    progress: Progress | None = None,
) -> VisualMap | None:
    """Return the visual ids of a collection, in a new version if any id changes, or None.

    LaTeX without MathML is converted first. Ids given in the formula index are used; others stay
    the same as in the newest version. If the formulas did not change, nothing is computed unless
    `again` is set. Returns None for a collection without formulas.
    """
    if not collection.formulas_index:
        return None
    convert_latex(collection=collection, progress=progress)
    newest, inputs = newest_map(collection), _inputs(collection)
    if newest and newest.inputs == inputs and not again:
        return newest
    previous = map_frame(newest, "mapping") if newest else None
    judged = judged or JudgedFormula()
    above = max(judged.highest_id, newest.counts.get("highest id", 0) if newest else 0)
    made = identity.visual_map(
        _instances(collection), previous=previous, relevance=judged.relevance, above=above
    )
    return _stored(collection, made, inputs=inputs, previous=previous, at=at)


def _inputs(collection: Collection) -> str:
    """Return a digest of the input files. Their names change with their content."""
    names = f"{collection.formulas_index.name} {collection.conversions.name or ''}"
    return hashlib.sha256(names.encode()).hexdigest()


def _instances(collection: Collection) -> pl.DataFrame:
    index = scan_columns(collection.formulas_index).select(
        "formula_id", "latex", "layout", given="given_visual_id"
    )
    converted = converted_latex(collection).drop_nulls("layout").select("latex", converted="layout")
    joined = index.join(converted.lazy(), on="latex", how="left", maintain_order="left")
    return (
        joined.with_columns(layout=pl.coalesce("layout", "converted")).drop("converted").collect()
    )


@transaction.atomic
def _stored(
    collection: Collection,
    made: identity.VisualIdMap,
    *,
    inputs: str,
    previous: pl.DataFrame | None,
    at: datetime,
) -> VisualMap:
    # Of two workers with the same formulas, one waits here and then finds no difference.
    Collection.objects.select_for_update().get(pk=collection.pk)
    newest = newest_map(collection)
    if newest and map_frame(newest, "mapping").equals(made.mapping):
        VisualMap.objects.filter(pk=newest.pk).update(inputs=inputs)
        return newest
    version = newest.version + 1 if newest else 1
    columns = {
        "mapping": made.mapping,
        "forms": made.forms,
        "changes": made.changes,
        "opinion": made.opinion,
    }
    names = {
        field: store_frame(slug=collection.slug, what=f"visual-{version}-{field}", frame=frame)
        for field, frame in columns.items()
    }
    counts = _counts(made, previous) | {"highest id": _highest(made, newest)}
    return VisualMap.objects.create(
        collection=collection, version=version, inputs=inputs, counts=counts, made_at=at, **names
    )


def _counts(made: identity.VisualIdMap, previous: pl.DataFrame | None) -> dict[str, Any]:
    changes, opinion = made.changes, made.opinion
    return {
        "instances": made.mapping.height,
        "formulas": made.forms.height,
        "new instances": 0
        if previous is None
        else made.mapping.join(previous, on="formula_id", how="anti").height,
        "merges": _pairs(changes, "merge"),
        "splits": _pairs(changes, "split"),
        "would merge": opinion.filter(pl.col("kind") == "would merge").height,
        "would split": opinion.filter(pl.col("kind") == "would split").height,
    }


def _highest(made: identity.VisualIdMap, newest: VisualMap | None) -> int:
    """Return the highest number in any version. Ids that are no longer used are not reused."""
    numbers = made.forms["visual_id"].cast(pl.Int64, strict=False).max()
    before = newest.counts.get("highest id", 0) if newest else 0
    return max(before, numbers if isinstance(numbers, int) else 0)


def _pairs(changes: pl.DataFrame, change: str) -> int:
    return (
        changes.filter(pl.col("change") == change)
        .select("old_visual_id", "new_visual_id")
        .n_unique()
    )
