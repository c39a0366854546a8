"""Claim: a formula index in LaTeX is read and checked at 400,000 rows per second or more, in the
same memory at any size.

The index is the collection's sample in ../shared/data, repeated with new ids, in LaTeX (1 and 4
million rows) and as symbol layout trees (a quarter and half of a million). The goal is absolute.
Beside it, polars reads the same file at once, without checks: the ratio to it has no goal. Each
side runs in a process of its own.
"""

import gzip
import tempfile
from functools import partial
from pathlib import Path

import polars as pl

from arqlab.formats.formulas.index import read_index
from benchmarks.common import (
    Benchmark,
    in_process,
    median_of,
    peak_megabytes,
    seconds,
    shared_data,
    start,
)

LEAST_RATE = 400_000
MOST_GROWTH = 1.15
WHOLE = 28_320_920
SIZES = {"latex": (1_000_000, 4_000_000), "slt": (250_000, 500_000)}
SMALLEST = {"latex": (5_000, 20_000), "slt": (1_000, 2_000)}


def main(bench: Benchmark) -> None:
    """Measure a small and a large file of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, sizes in bench.sized(SIZES, SMALLEST).items():
            small, large = (measure(bench, write(Path(folder), kind, rows), rows) for rows in sizes)
            if kind == "latex":
                bench.ratio(f"{kind}, rate to the goal", large[0] / LEAST_RATE, at_least=1)
            growth = large[1] / small[1]
            bench.ratio(
                f"{kind}, memory of the large file to the small", growth, at_most=MOST_GROWTH
            )


def write(folder: Path, kind: str, rows: int) -> Path:
    """Write an index with so many rows."""
    packed = shared_data(f"collection/formulas.{kind}.tsv.gz").read_bytes()
    head, *lines = gzip.decompress(packed).splitlines(keepends=True)
    cells = [line.split(b"\t", 1)[1] for line in lines]
    path = folder / f"{kind}-{rows}.tsv"
    with path.open("wb") as file:
        file.write(head)
        file.writelines(b"%d\t%s" % (number, cells[number % len(cells)]) for number in range(rows))
    return path


def measure(bench: Benchmark, path: Path, rows: int) -> tuple[float, float]:
    """Read a file in both ways; return our rows per second and our peak memory in MB."""
    sides = {side.__name__: partial(in_process, side, path=str(path)) for side in (ours, polars)}
    found = bench.alternate(sides)
    rate, polars_rate = (rows / median_of(found[side], "seconds") for side in ("ours", "polars"))
    peak, polars_peak = (
        max(each["megabytes"] for each in found[side]) for side in ("ours", "polars")
    )
    print(
        f"{path.stem}: ours {rate:,.0f} rows per second and {peak:.0f} MB, polars unchecked"
        f" {polars_rate:,.0f} and {polars_peak:.0f} MB, ratio {rate / polars_rate:.2f};"
        f" the whole collection in {WHOLE / rate:.0f} s"
    )
    return rate, peak


def ours(path: str) -> dict[str, float]:
    """Read and check a file in parts."""
    took = seconds(lambda: sum(part.frame.height for part in read_index(Path(path))))
    return {"seconds": took, "megabytes": peak_megabytes()}


def polars(path: str) -> dict[str, float]:
    """Read a file at once, without checks."""
    took = seconds(lambda: pl.read_csv(path, separator="\t", infer_schema=False))
    return {"seconds": took, "megabytes": peak_megabytes()}


if __name__ == "__main__":
    start(main, rounds=3, sides=(ours, polars))
