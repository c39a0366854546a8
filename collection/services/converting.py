"""LaTeX that came without MathML, converted to layout strings: each distinct LaTeX once, in batches.

What became of it is kept as columns (latex, layout, error, engine), failures too. A formula that brings its batch down
is found by converting that batch one by one. Failures are tried again by another version of the engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import polars as pl
from django.db import transaction

from arqlab.core import typesetting
from arqlab.core.typesetting import presentation_mathml
from arqlab.ir.mathml import layout_strings
from collection.models import Collection
from collection.selectors.collections import scan_columns
from collection.services.columns import name_columns, store_frame
from collection.services.importing.records import Progress

BATCH = 1000
SCHEMA = {"latex": pl.String, "layout": pl.String, "error": pl.String, "engine": pl.String}
_Row = tuple[str, str | None, str | None, str]
NO_MATHML = "The engine gives no MathML for it."
NO_LAYOUT = "The MathML that the engine gives cannot be read."


class Conversions(NamedTuple):
    """How many distinct LaTeX strings were converted now, and how many of them failed."""

    converted: int
    failed: int


def convert_latex(*, collection: Collection, progress: Progress | None = None) -> Conversions:
    """Convert what has no layout yet and was not tried by this engine; gives what was done now."""
    known, waiting = conversions_of(collection), _waiting(collection)
    settled = known.filter(pl.col("error").is_null() | (pl.col("engine") == engine()))
    todo = waiting.filter(~waiting.is_in(settled["latex"].implode())).to_list()
    if not todo:
        return Conversions(0, 0)
    made: list[_Row] = []
    for start in range(0, len(todo), BATCH):
        made += _converted(todo[start : start + BATCH])
        if progress:
            progress(len(made), len(todo))
    new = pl.DataFrame(made, schema=SCHEMA, orient="row")
    whole = pl.concat([known.join(new, on="latex", how="anti"), new])
    with transaction.atomic():
        name_columns(collection, conversions=store_frame(slug=collection.slug, what="conversions", frame=whole))
    return Conversions(new.height, new["error"].count())


def conversions_of(collection: Collection) -> pl.DataFrame:
    """Give the conversions that are kept: latex, layout (null: failed), error, engine."""
    if not collection.conversions:
        return pl.DataFrame(schema=SCHEMA)
    return scan_columns(collection.conversions).collect()


@lru_cache(maxsize=1)
def engine() -> str:
    """Give the name of the engine with a digest of it and of our rules around it."""
    rules = Path(typesetting.__file__).read_bytes() + typesetting.TEMML.read_bytes()
    return f"temml-{hashlib.sha256(rules).hexdigest()[:12]}"


def _waiting(collection: Collection) -> pl.Series:
    """Give each LaTeX once that some instance has without a layout."""
    if not collection.formulas_index:
        return pl.Series("latex", [], pl.String)
    without = scan_columns(collection.formulas_index).filter(
        pl.col("layout").is_null() & (pl.col("latex").str.strip_chars() != "")
    )
    return without.select(pl.col("latex").unique().sort()).collect().to_series()


def _converted(batch: Sequence[str]) -> Iterator[_Row]:
    try:
        yield from zip(batch, *_layouts(batch), [engine()] * len(batch), strict=True)
    except Exception as error:  # noqa: BLE001  # whatever one formula does to the engine, the others are converted
        if len(batch) == 1:
            yield batch[0], None, f"{type(error).__name__}: {error}", engine()
        else:
            for latex in batch:
                yield from _converted([latex])


def _layouts(batch: Sequence[str]) -> tuple[list[str | None], list[str | None]]:
    """Give layouts and errors."""
    mathml = [presentation_mathml(latex) for latex in batch]
    layouts = layout_strings(mathml)
    errors = [
        None if layout else NO_LAYOUT if text else NO_MATHML for text, layout in zip(mathml, layouts, strict=True)
    ]
    return layouts, errors
