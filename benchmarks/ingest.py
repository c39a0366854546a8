"""Claim: a run of 100,000 lines is checked by all rules and indexed in at most twice the time of a
bare `csv` loop.

    python benchmarks/ingest.py [--rounds 9] [--run FILE]

Both read the same bytes in turn, in one process: the loop only splits the lines and converts rank
and score; ours looks every post up in a collection of 1,000,000, reports every problem, and writes
the index as Parquet to disk. Prints the best and median of each in milliseconds, and their ratio,
for a clean run and for one with notable problems.
"""

import argparse
import csv
import gzip
import io
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent))

from arqlab.formats.runs.check import check_run
from arqlab.formats.runs.report import RunRules
from arqlab.ir.records import TaskKind

TOPICS, ITEMS, POSTS = 100, 1000, 1_000_000


def main() -> None:
    """Print a line for each run that is measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--run", type=Path, help="a real run file of Task 1, plain or gzipped, to measure too"
    )
    options = parser.parse_args()
    posts = a_collection()
    rules = RunRules(TaskKind.ANSWERS, topics_of("A"), posts=posts, complete=True)
    measure("clean run", a_run(posts, is_odd=False), rules, options.rounds)
    measure(
        "run with ties everywhere, jumping ranks, CR LF",
        a_run(posts, is_odd=True),
        rules,
        options.rounds,
    )
    if options.run:
        data = options.run.read_bytes()
        data = gzip.decompress(data) if options.run.suffix == ".gz" else data
        # Its ids are looked up in a collection that knows nothing of them but calls each an answer.
        answers = posts.with_columns(type=pl.lit("answer"))
        measure(
            options.run.name,
            data,
            RunRules(TaskKind.ANSWERS, topics_of("A"), posts=answers),
            options.rounds,
        )


def measure(name: str, data: bytes, rules: RunRules, rounds: int) -> None:
    """Time both in turn, so that what else the machine does falls on both."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index.parquet")
        ours = timed(lambda: ingest(data, rules, index))
        bare = timed(lambda: bare_loop(data))
        times = [(ours(), bare()) for _ in range(rounds + 1)][1:]
        mib = index.stat().st_size / 2**20
    best = [min(column) * 1000 for column in zip(*times, strict=True)]
    median = [statistics.median(column) * 1000 for column in zip(*times, strict=True)]
    lines = data.count(b"\n")
    print(f"{name}: {lines:,} lines, index of {mib:.1f} MiB")
    print(f"  check and index   best {best[0]:6.1f} ms   median {median[0]:6.1f} ms")
    print(f"  bare csv loop     best {best[1]:6.1f} ms   median {median[1]:6.1f} ms")
    print(
        f"  ratio             best {best[0] / best[1]:6.2f}      median {median[0] / median[1]:6.2f}   (at most 2.00)"
    )


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """Make a function that does the work and gives the seconds it took."""

    def run() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return run


def ingest(data: bytes, rules: RunRules, path: Path) -> None:
    """Do what validation does: check by all rules, and write the index beside the run."""
    report = check_run(data, rules)
    if report.index is None:
        raise SystemExit("\n".join(group.message for group in report.problems))
    report.index.write_parquet(path, compression="zstd", compression_level=1)


def bare_loop(data: bytes) -> list[tuple[str, str, int, float, str]]:
    """Only split and convert."""
    lines = csv.reader(io.StringIO(data.decode()), delimiter="\t")
    return [(row[0], row[-4], int(row[-3]), float(row[-2]), row[-1]) for row in lines]


def a_collection() -> pl.DataFrame:
    """Make a collection in which every second post is an answer."""
    ids = random.Random(1).sample(range(1, 3_000_000), POSTS)
    return pl.DataFrame(
        {
            "post_id": [str(number) for number in ids],
            "type": ["answer", "question"] * (POSTS // 2),
            "thread_id": [str(number // 3) for number in ids],
        }
    )


def topics_of(letter: str) -> tuple[str, ...]:
    """Return topic ids as the labs number them."""
    return tuple(f"{letter}.{number}" for number in range(1, TOPICS + 1))


def a_run(posts: pl.DataFrame, *, is_odd: bool) -> bytes:
    """Make a run of ARQMath Task 1 with full float scores, a tenth of which tie; an odd one has
    nearly all faults that are accepted.
    """
    chance = random.Random(2)
    answers = posts.filter(pl.col("type") == "answer")["post_id"].to_list()
    lines = []
    for topic in topics_of("A"):
        score = 30.0
        for rank, item in enumerate(chance.sample(answers, ITEMS), start=1):
            score -= chance.random() * 0.02 * (chance.random() > (0.9 if is_odd else 0.1))
            shown = 2 * rank + 1 if is_odd else rank
            lines.append(f"{topic}\t{item}\t{shown}\t{score!r}\trun_1")
    end = "\r\n" if is_odd else "\n"
    return (end.join(lines) + end).encode()


if __name__ == "__main__":
    main()
