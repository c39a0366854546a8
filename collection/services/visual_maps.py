"""Versions of a collection's visual ids, and the conversion of formulas that they need."""

import hashlib
import time
from collections.abc import Sequence
from datetime import datetime
from functools import partial

import polars as pl
from django.conf import settings
from django.db import transaction

from arqkit.formulas.visual_ids import VisualIdMap, visual_map
from arqkit.parts import mapped
from arqkit.texts.maths.conversion import ConvertedLatex, converter_name, latex_layouts
from collection.models import Collection, VisualMap
from collection.selectors.collections import scan_columns
from collection.selectors.visual_maps import JudgedFormula, map_frame, newest_map
from collection.services.importing.import_records import Progress
from collection.services.parquet_files import replace_files, store_frame

BATCH = 500
SAVE_INTERVAL = 60.0
"""Seconds between two saves: the most work that is lost if the process is killed."""
SCHEMA = {"latex": pl.String, "layout": pl.String, "error": pl.String, "engine": pl.String}


def convert_latex(*, collection: Collection, progress: Progress | None = None) -> tuple[int, int]:
    """Convert the LaTeX that has no layout and that this engine has not tried yet.

    Return the numbers of distinct LaTeX strings that were converted now, and that failed.
    """
    waiting = _waiting(collection)
    todo = waiting.filter(~waiting.is_in(converted_latex(collection)["latex"].implode())).to_list()
    new: list[ConvertedLatex] = []
    done, failed, saved_at = 0, 0, time.monotonic()
    batches = (todo[start : start + BATCH] for start in range(0, len(todo), BATCH))
    convert = partial(latex_layouts, exact=settings.LATEXML)
    for results in mapped(convert, batches, cluster=settings.DASK):
        new += results
        done += len(results)
        failed += sum(result.error is not None for result in results)
        if progress:
            progress(done, len(todo))
        if done == len(todo) or time.monotonic() - saved_at > SAVE_INTERVAL:
            _save(collection, new)
            new, saved_at = [], time.monotonic()
    return done, failed


def converted_latex(collection: Collection) -> pl.DataFrame:
    """Return the conversions by this engine: latex, layout (null if failed), error, engine."""
    return _saved(collection).filter(engine=engine())


def engine() -> str:
    """Return the name and version of the converter in the settings."""
    return converter_name(exact=settings.LATEXML)


def _saved(collection: Collection) -> pl.DataFrame:
    file = collection.conversions
    return scan_columns(file).collect() if file else pl.DataFrame(schema=SCHEMA)


def _save(collection: Collection, results: Sequence[ConvertedLatex]) -> None:
    rows = [(*result, engine()) for result in results]
    new = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    whole = pl.concat([_saved(collection).join(new, on="latex", how="anti"), new])
    with transaction.atomic():
        name = store_frame(slug=collection.slug, what="conversions", frame=whole)
        replace_files(collection, conversions=name)


def _waiting(collection: Collection) -> pl.Series:
    """Return the distinct LaTeX of the instances without a layout."""
    if not collection.formulas_index:
        return pl.Series("latex", [], pl.String)
    without = scan_columns(collection.formulas_index).filter(
        pl.col("layout").is_null() & (pl.col("latex").str.strip_chars() != "")
    )
    return without.select(pl.col("latex").unique().sort()).collect().to_series()


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
    visual_ids = visual_map(
        _instances(collection), previous=previous, relevance=judged.relevance, above=above
    )
    return _stored(collection, visual_ids, inputs=inputs, previous=previous, at=at)


def _inputs(collection: Collection) -> str:
    """Return a digest of the input files. Their names change with their content."""
    names = f"{collection.formulas_index.name} {collection.conversions.name or ''}"
    return hashlib.sha256(names.encode()).hexdigest()


def _instances(collection: Collection) -> pl.DataFrame:
    index = scan_columns(collection.formulas_index)
    index = index.select("formula_id", "latex", "layout", given="given_visual_id")
    converted = converted_latex(collection).drop_nulls("layout").select("latex", converted="layout")
    joined = index.join(converted.lazy(), on="latex", how="left", maintain_order="left")
    layout = pl.coalesce("layout", "converted")
    return joined.with_columns(layout=layout).drop("converted").collect()


@transaction.atomic
def _stored(
    collection: Collection,
    visual_ids: VisualIdMap,
    *,
    inputs: str,
    previous: pl.DataFrame | None,
    at: datetime,
) -> VisualMap:
    # Of two workers with the same formulas, one waits here and then finds no difference.
    Collection.objects.select_for_update().get(pk=collection.pk)
    newest = newest_map(collection)
    if newest and map_frame(newest, "mapping").equals(visual_ids.mapping):
        VisualMap.objects.filter(pk=newest.pk).update(inputs=inputs)
        return newest
    version = newest.version + 1 if newest else 1
    names = {}
    for field in ("mapping", "forms", "changes", "opinion"):
        what, frame = f"visual-{version}-{field}", getattr(visual_ids, field)
        names[field] = store_frame(slug=collection.slug, what=what, frame=frame)
    counts = _counts(visual_ids, previous) | {"highest id": _highest(visual_ids, newest)}
    return VisualMap.objects.create(
        collection=collection, version=version, inputs=inputs, counts=counts, made_at=at, **names
    )


def _counts(visual_ids: VisualIdMap, previous: pl.DataFrame | None) -> dict[str, int]:
    mapping, changes, opinion = visual_ids.mapping, visual_ids.changes, visual_ids.opinion
    new = None if previous is None else mapping.join(previous, on="formula_id", how="anti")
    counts = {"instances": mapping.height, "formulas": visual_ids.forms.height}
    counts["new instances"] = 0 if new is None else new.height
    for change in ("merge", "split"):
        pairs = changes.filter(change=change).select("old_visual_id", "new_visual_id")
        counts[f"{change}s"] = pairs.n_unique()
    for kind in ("would merge", "would split"):
        counts[kind] = opinion.filter(kind=kind).height
    return counts


def _highest(visual_ids: VisualIdMap, newest: VisualMap | None) -> int:
    """Return the highest number in any version. Ids that are no longer used are not reused."""
    numbers = visual_ids.forms["visual_id"].cast(pl.Int64, strict=False).max()
    before = newest.counts.get("highest id", 0) if newest else 0
    return max(before, numbers if isinstance(numbers, int) else 0)
