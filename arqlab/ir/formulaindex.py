"""The formula index, TSV by TSV (stand-in until the whole module joins)."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from arqlab.ir.records import FileRefusedError, Problem

COLUMNS = (
    "formula_id",
    "post_id",
    "thread_id",
    "type",
    "comment_id",
    "old_visual_id",
    "visual_id",
    "issue",
    "formula",
)


class IndexPart(NamedTuple):
    """A batch of rows, and what could not be read of them."""

    frame: pl.DataFrame
    problems: list[Problem]


def read_index(path: Path) -> Iterator[IndexPart]:
    """Read an index in batches. Raises FileRefusedError when its headings cannot be understood."""
    files = sorted(path.iterdir(), key=lambda one: (len(one.name), one.name)) if path.is_dir() else [path]
    seen: set[str] = set()
    for file in files:
        frame = pl.read_csv(file, separator="\t", infer_schema=False).rename(lambda name: name.strip().lower())
        if "id" in frame.columns:
            frame = frame.rename({"id": "formula_id"})
        if not {"formula_id", "post_id", "formula"} <= set(frame.columns):
            found = f"the columns {', '.join(frame.columns)}"
            raise FileRefusedError([Problem(str(file), 1, found, "the columns of an index", "Name them.")])
        lacking = [pl.lit(None, pl.String).alias(name) for name in COLUMNS if name not in frame.columns]
        frame = frame.with_columns(lacking).select(COLUMNS).with_columns(pl.col("visual_id").replace("", None))
        for part in frame.iter_slices(100_000):
            yield _checked(part, file, seen)


def _checked(frame: pl.DataFrame, file: Path, seen: set[str]) -> IndexPart:
    problems, good = [], []
    for number, formula_id in enumerate(frame["formula_id"]):
        good.append(formula_id is not None and formula_id not in seen)
        if not good[-1]:
            problems.append(Problem(str(file), number + 2, f"the formula {formula_id} again", "each once", "Keep one."))
        seen.add(formula_id)
    return IndexPart(frame.filter(pl.Series(good, dtype=pl.Boolean)), problems)
