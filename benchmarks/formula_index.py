"""The claim: a formula index in LaTeX is read and checked at 400,000 rows a second or more, in the
same memory at any size.

The index is the collection's sample in ../shared/data, repeated with ids of its own, in LaTeX and
as symbol layout trees. Beside it, polars' own reader takes the same file without a check. Each run
is a process of its own; peak memory is the process's own report. The best of three rounds counts,
because others may use the machine.

    .venv/bin/python benchmarks/formula_index.py [--millions 1]
"""

import argparse
import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from arqlab.formats.formulas.index import read_index

SAMPLE = Path(__file__).parents[2] / "shared" / "data" / "collection"
WANTED_RATE = 400_000
MORE_MEMORY = 1.15
WHOLE = 28_320_920


def main() -> int:
    """Measure small and large files of both kinds; 0 when LaTeX is fast enough and memory does not
    grow.
    """
    parser = argparse.ArgumentParser(description="Measure the reading of a formula index.")
    parser.add_argument(
        "--millions", type=float, default=1.0, help="rows of the smaller file, in millions"
    )
    parser.add_argument("--read", nargs=2, metavar=("HOW", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        return read(*options.read)
    if not SAMPLE.is_dir():
        print(f"The formulas are not at {SAMPLE}; put the labs' public data there.")
        return 1
    holds = True
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("latex", "slt"):
            sizes = [
                int(options.millions * 1e6 * part)
                for part in ((1, 4) if kind == "latex" else (0.25, 0.5))
            ]
            small, large = (measured(written(Path(folder), kind, rows), rows) for rows in sizes)
            holds &= large[1] < small[1] * MORE_MEMORY
            holds &= kind != "latex" or large[0] >= WANTED_RATE
    return 0 if holds else 1


def written(folder: Path, kind: str, rows: int) -> Path:
    """Write an index of so many rows."""
    head, *lines = gzip.decompress((SAMPLE / f"formulas.{kind}.tsv.gz").read_bytes()).splitlines(
        keepends=True
    )
    cells = [line.split(b"\t", 1)[1] for line in lines]
    path = folder / f"{kind}-{rows}.tsv"
    with path.open("wb") as file:
        file.write(head)
        file.writelines(b"%d\t%s" % (number, cells[number % len(cells)]) for number in range(rows))
    return path


def measured(path: Path, rows: int) -> tuple[float, int]:
    """Read a file in both ways, print the rates, and give ours in rows a second and our peak memory
    in MB.
    """
    found = {}
    for how in ("ours", "polars"):
        command = [sys.executable, __file__, "--read", how, str(path)]
        said = [
            subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            for _ in range(3)
        ]
        found[how] = (
            max(rows / float(seconds) for seconds, _ in said),
            max(int(peak) for _, peak in said),
        )
    rate, peak = found["ours"]
    print(
        f"{path.stem}: {rate:,.0f} rows a second, {peak} MB; polars alone, all at once and unchecked "
        f"{found['polars'][0]:,.0f} and {found['polars'][1]} MB; ratio {rate / found['polars'][0]:.2f}; "
        f"28 million rows in {WHOLE / rate:.0f} s"
    )
    return rate, peak


def read(how: str, path: str) -> int:
    """Read a file in one way; print the seconds and the peak memory in MB."""
    start = time.perf_counter()
    if how == "ours":
        sum(part.frame.height for part in read_index(Path(path)))
    else:
        pl.read_csv(path, separator="\t", infer_schema=False)
    seconds = time.perf_counter() - start
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    return 0


if __name__ == "__main__":
    sys.exit(main())
