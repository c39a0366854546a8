"""Conversion of LaTeX without MathML to layout strings, each distinct LaTeX once, in batches.

Results and failures are saved to a Parquet file (latex, layout, error, engine) as the work goes on.
A formula that makes its batch fail is found by halving the batch. Another converter or version
converts everything again, so that the layouts of two converters are not mixed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl
from django.conf import settings
from django.db import transaction

from arqkit.formulas.layout import layout_strings
from arqkit.texts.maths.conversion import converter, converter_name
from collection.models import Collection
from collection.selectors.collections import scan_columns
from collection.services.importing.import_records import Progress
from collection.services.parquet_files import replace_files, store_frame

BATCH = 500
SAVE_INTERVAL = 60.0
"""Seconds between two saves: the most work that is lost if the process is killed."""
SCHEMA = {"latex": pl.String, "layout": pl.String, "error": pl.String, "engine": pl.String}
NO_MATHML = "The converter returns no MathML."
NO_LAYOUT = "The MathML from the converter cannot be read."

_Result = tuple[str, str | None, str | None]  # LaTeX, layout, error


class Conversions(NamedTuple):
    """The numbers of distinct LaTeX strings that were converted now, and that failed."""

    converted: int
    failed: int


def convert_latex(*, collection: Collection, progress: Progress | None = None) -> Conversions:
    """Convert the LaTeX that has no layout and that this engine has not tried yet."""
    waiting = _waiting(collection)
    todo = waiting.filter(~waiting.is_in(converted_latex(collection)["latex"].implode())).to_list()
    new: list[_Result] = []
    done, failed, saved_at = 0, 0, time.monotonic()
    for start in range(0, len(todo), BATCH):
        results = list(_converted(todo[start : start + BATCH]))
        new += results
        done, failed = (
            done + len(results),
            failed + sum(error is not None for _, _, error in results),
        )
        if progress:
            progress(done, len(todo))
        if done == len(todo) or time.monotonic() - saved_at > SAVE_INTERVAL:
            _save(collection, new)
            new, saved_at = [], time.monotonic()
    return Conversions(done, failed)


def converted_latex(collection: Collection) -> pl.DataFrame:
    """Return the conversions by this engine: latex, layout (null if failed), error, engine."""
    return _saved(collection).filter(engine=engine())


def engine() -> str:
    """Return the name and version of the converter in the settings."""
    return converter_name(exact=settings.LATEXML)


def _saved(collection: Collection) -> pl.DataFrame:
    return (
        scan_columns(collection.conversions).collect()
        if collection.conversions
        else pl.DataFrame(schema=SCHEMA)
    )


def _save(collection: Collection, results: Sequence[_Result]) -> None:
    rows = [(*result, engine()) for result in results]
    new = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    whole = pl.concat([_saved(collection).join(new, on="latex", how="anti"), new])
    with transaction.atomic():
        replace_files(
            collection,
            conversions=store_frame(slug=collection.slug, what="conversions", frame=whole),
        )


def _waiting(collection: Collection) -> pl.Series:
    """Return the distinct LaTeX of the instances without a layout."""
    if not collection.formulas_index:
        return pl.Series("latex", [], pl.String)
    without = scan_columns(collection.formulas_index).filter(
        pl.col("layout").is_null() & (pl.col("latex").str.strip_chars() != "")
    )
    return without.select(pl.col("latex").unique().sort()).collect().to_series()


def _converted(batch: Sequence[str]) -> Iterator[_Result]:
    try:
        yield from _layouts(batch)
    # Convert the other formulas whatever error one formula causes.
    except Exception as error:  # noqa: BLE001
        if len(batch) == 1:
            yield batch[0], None, f"{type(error).__name__}: {error}"
        else:
            middle = len(batch) // 2
            yield from _converted(batch[:middle])
            yield from _converted(batch[middle:])


def _layouts(batch: Sequence[str]) -> list[_Result]:
    with converter(exact=settings.LATEXML) as used:
        mathml = [used.convert(latex) for latex in batch]
    results = zip(batch, mathml, layout_strings(mathml), strict=True)
    return [
        (latex, layout, None if layout else NO_LAYOUT if text else NO_MATHML)
        for latex, text, layout in results
    ]
