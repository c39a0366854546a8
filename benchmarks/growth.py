"""Claim: from 62,131 formulas to 600,000, the time to build the index of formula search, its bytes
and the median query grow no faster than the trees of the formulas, and those of an index of vectors
no faster than their number; and vectors in one byte a number keep .95 of their 10 nearest
neighbours.

The larger collection has the sample's formulas and variations of them: with other letters and
numbers, and two formulas joined by an equals sign. A formula that repeats does so in its variations
too. They are a fifth longer: hence the measure is the bytes of all trees, before they are indexed.
Real collections repeat more as they grow, so that the sums for the whole collection, which
grow as these sizes do, are high. The index is built as jobs build it, in parts that lie on disk.
Each size runs in a process of its own. Vectors are random, 64 numbers each: no two are close, which
is hardest for a compressed index. Times are processor times of one core, whatever else runs.
"""

import os
import re
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from zlib import crc32

import numpy as np
import polars as pl

from arqkit.parts import kept
from arqkit.retrieval.formulas import FormulaIndex, read_formulas
from benchmarks.common import Benchmark, in_process, peak_megabytes, seconds, shared_data, start
from benchmarks.formula_search import mathml, topics

SIZES, SMALLEST = (62_131, 600_000), (100, 200)
PART = 20_000
WHOLE = 28_320_000
"""The formulas of the whole collection."""
GROWTH, RECALL = 1.2, 0.95
_LETTER = re.compile(r"(<mi\b[^>]*>)([a-zA-Z])(</mi>)")
_NUMBER = re.compile(r"(<mn\b[^>]*>)(\d+)(</mn>)")
_MATH = re.compile(r"\s*<math\b[^>]*>(?:<semantics>)?(.*?)(?:</semantics>)?</math>\s*", re.DOTALL)
ONE_CORE = os.environ | dict.fromkeys(
    ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def main(bench: Benchmark) -> None:
    """Measure both sizes of both indexes, and print the sums for the whole collection."""
    measured = {"formulas": formulas}
    if find_spec("faiss"):
        measured["vectors"] = vectors
    for what, side in measured.items():
        sizes = bench.sized(SIZES, SMALLEST)
        small, large = (in_process(side, ONE_CORE, count=count) for count in sizes)
        for count, found in zip(sizes, (small, large), strict=True):
            print(f"{count:,} {what}:", ", ".join(f"{k} {v:,.4g}" for k, v in found.items()))
        factor = large["size"] / small["size"]
        for name in ("seconds", "bytes", "median ms"):
            growth = large[name] / small[name] / factor
            bench.ratio(f"{what}, growth of {name}", growth, at_most=GROWTH)
        if "recall" in large:
            bench.ratio("recall of 10 neighbours", large["recall"], at_least=RECALL)
        slopes = {k: (large[k] - small[k]) / (sizes[1] - sizes[0]) for k in large}
        whole = {k: large[k] + slope * (WHOLE - sizes[1]) for k, slope in slopes.items()}
        print(
            f"sum for {WHOLE:,} {what}: {whole['bytes'] / 1e9:.1f} GB on disk"
            f" ({large['bytes'] / sizes[1]:.0f} bytes each), {whole['seconds'] / 3600:.2f} hours of"
            f" one core, {whole['megabytes'] / 1000:.0f} GB of memory to build,"
            f" {whole['median ms'] / 1000:.2f} s a median query"
        )


# --- sides, each in a process of its own


def formulas(count: int) -> dict[str, float]:
    """Build the index of so many formulas, and search it for all topics of Task 2."""
    sample = list(mathml(shared_data("collection/formulas.slt.tsv.gz")))[:count]
    queries = [query for edition in (1, 2, 3) for query in topics(edition)]
    list(kept(read_formulas, frames(sample[:10]), Path(tempfile.mkdtemp()), done=int))  # compiles
    with tempfile.TemporaryDirectory() as name:
        index = Path(name, "index")

        def build() -> None:
            parts = frames(islice(grown(sample), count))
            read = kept(read_formulas, parts, Path(name, "parts"), done=int)
            FormulaIndex.merge(read).save(index)

        took, megabytes = seconds(build, time.process_time), peak_megabytes()
        opened = FormulaIndex.open(index)
        return {
            "seconds": took,
            "megabytes": megabytes,
            "bytes": size_of(index),
            "size": size_of(Path(name, "parts")),
            "looks": len(opened.looks),
            **times(lambda query: opened.hits(query), queries[: min(len(queries), count // 10)]),
        }


def vectors(count: int) -> dict[str, float]:
    """Build the index of so many vectors, and search it for some."""
    from arqkit.retrieval.vectors import VectorIndex

    random = np.random.default_rng(8)
    rows = random.standard_normal((count, 64), np.float32)
    blocks = [
        (list(map(str, range(n, min(n + PART, count)))), rows[n : n + PART])
        for n in range(0, count, PART)
    ]
    queries = list(random.standard_normal((min(count, 200), 1, 64), np.float32))
    with tempfile.TemporaryDirectory() as name:
        took = seconds(lambda: VectorIndex.build(blocks).save(Path(name)), time.process_time)
        megabytes, bytes_ = peak_megabytes(), size_of(Path(name))
        opened = VectorIndex.open(Path(name))
        found = times(lambda query: opened.search(["q"], query, limit=100), queries)
        recall = VectorIndex.build(blocks, flat=count // 2, least_recall=0).recall
    own = {"seconds": took, "megabytes": megabytes, "bytes": bytes_, "size": count}
    return {**own, "recall": recall, **found}


def times(search, queries) -> dict[str, float]:
    """Return the median and the worst time of a query, in milliseconds, the better of two runs."""
    search(queries[0])
    took = [
        min(seconds(lambda q=query: search(q), time.process_time) for _ in range(2)) * 1000
        for query in queries
    ]
    return {"median ms": statistics.median(took), "worst ms": max(took)}


def size_of(folder: Path) -> int:
    """Return the bytes of the files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# --- a larger collection


def frames(formulas: Iterable[str]) -> Iterator[pl.DataFrame]:
    """Yield formulas in parts, as a collection has them."""
    numbered = enumerate(formulas)
    while rows := [(str(number), None, slt, None) for number, slt in islice(numbered, PART)]:
        schema = dict.fromkeys(("formula_id", "latex", "slt", "opt"), pl.String)
        yield pl.DataFrame(rows, schema=schema, orient="row")


def grown(sample: list[str]) -> Iterator[str]:
    """Yield the sample, and then variations of it without end."""
    yield from sample
    generation = 0
    while True:
        generation += 1
        for formula in sample:
            varied = with_letters(with_numbers(formula, generation), generation)
            digest = crc32(formula.encode())  # equal formulas have equal variations
            if digest % 3 == 0:
                varied = joined(varied, sample[(digest + generation) % len(sample)])
            yield varied


def with_letters(formula: str, shift: int) -> str:
    """Replace each one-letter identifier by a later letter of the alphabet."""

    def later(found: re.Match[str]) -> str:
        letter = ALPHABET[(ALPHABET.index(found[2].lower()) + shift) % 26]
        return found[1] + (letter if found[2].islower() else letter.upper()) + found[3]

    return _LETTER.sub(later, formula)


def with_numbers(formula: str, more: int) -> str:
    """Add to each number."""
    return _NUMBER.sub(lambda found: f"{found[1]}{int(found[2][:9]) + more}{found[3]}", formula)


def joined(left: str, right: str) -> str:
    """Return two formulas with an equals sign between them."""
    first, second = _MATH.fullmatch(left), _MATH.fullmatch(right)
    if first is None or second is None:
        return left
    return f"<math><mrow>{first[1]}<mo>=</mo>{second[1]}</mrow></math>"


if __name__ == "__main__":
    start(main, rounds=1, sides=(formulas, vectors))
