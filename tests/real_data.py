"""The labs' real files, which are outside the project, and their runs as index frames."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from arqkit.protocols.scales import NTCIR
from tests.paths import SHARED_DATA

DATA = SHARED_DATA

needs_data = pytest.mark.shared_data

SCALES = {"ntcir-12-wfb": NTCIR}
QRELS = sorted(str(path.relative_to(DATA)) for path in DATA.glob("*/qrels.*"))


def index_frame(rows: list[tuple[str, str, int, float]], *, order: str = "score") -> pl.DataFrame:
    """Return index rows (topic, item, rank, score) as validation orders them."""
    frame = pl.DataFrame(
        rows,
        schema={"topic": pl.String, "item": pl.String, "rank": pl.Int64, "score": pl.Float64},
        orient="row",
    )
    if order == "rank":
        ordered = frame.sort("topic", "rank")
    else:
        single = frame.with_columns(single=pl.col("score").cast(pl.Float32))
        ordered = single.sort("topic", "single", "item", descending=[False, True, True]).drop(
            "single"
        )
    numbered = ordered.with_columns(
        order=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("topic")
    )
    return numbered.with_columns(post=pl.lit(None, pl.String))


def read_run(path: Path) -> list[tuple[str, str, int, float]]:
    """Read a real gzipped run with five or six columns; item comes before rank, score and tag."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        cells = [line.split() for line in file]
    return [(row[0], row[-4], int(row[-3]), float(row[-2])) for row in cells]
