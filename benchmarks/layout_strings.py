"""Claim: symbol layout strings are made at 40% or more of the rate at which lxml alone parses the
same formulas.

The formulas are the SLTs of the collection's sample in ../shared/data: all 62,131, and the distinct
ones, where remembering whole formulas cannot help. Both sides get the formulas that lxml can parse;
ours starts each round with nothing remembered. The sides take turns in one process. Rates count
processor time.
"""

import gzip
import statistics
import time
from functools import partial

import polars as pl
from lxml import etree

from arqlab.ir.formulas import layout
from benchmarks.common import Benchmark, seconds, shared_data, start

LEAST = 0.40
SMALLEST = 2_000


def main(bench: Benchmark) -> None:
    """Compare both sides on all formulas and on the distinct ones."""
    every = [formula for formula in read_formulas(bench.sized(None, SMALLEST)) if parses(formula)]
    for name, some in (("all", every), ("distinct", list(dict.fromkeys(every)))):
        sides = {
            side: partial(seconds, partial(work, some), time.process_time)
            for side, work in (("lxml", parse_all), ("ours", lay_out_all))
        }
        times = bench.alternate(sides, unmeasured=1)
        theirs, ours = (len(some) / statistics.median(times[side]) for side in ("lxml", "ours"))
        print(f"{len(some)} formulas: lxml {theirs:,.0f} per second, ours {ours:,.0f} per second")
        bench.ratio(f"layout strings, {name}", ours / theirs, at_least=LEAST)


def read_formulas(count: int | None) -> list[str]:
    """Read the SLTs of the sample, or the first of them."""
    with gzip.open(shared_data("collection/formulas.slt.tsv.gz")) as file:
        frame = pl.read_csv(file.read(), separator="\t", infer_schema=False)
    return frame["formula"].drop_nulls().head(count or frame.height).to_list()


def parses(formula: str) -> bool:
    """Return whether lxml can parse a formula; a few contain bare ampersands."""
    try:
        etree.fromstring(formula)
    except etree.XMLSyntaxError:
        return False
    return True


def parse_all(some: list[str]) -> None:
    """Parse the formulas and do nothing else."""
    for formula in some:
        etree.fromstring(formula)


def lay_out_all(some: list[str]) -> None:
    """Make layout strings from the text of the index."""
    layout.forget()
    layout.layout_strings(some)


if __name__ == "__main__":
    start(main, rounds=5)
