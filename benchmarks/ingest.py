"""Claim: a run of 100,000 lines is checked by all rules and indexed in at most twice the time of a
bare `csv` loop.

Both sides read the same bytes, in turn in one process. The loop only splits the lines and converts
rank and score. Ours looks up every post in a collection of 1,000,000, reports every problem and
writes the index to disk as Parquet. Measured on a clean run, on one with many problems, and on the
file of `--run`.
"""

import argparse
import csv
import gzip
import io
import random
import statistics
import tempfile
from pathlib import Path

import polars as pl

from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.report import RunRules
from arqkit.records import TaskKind
from benchmarks.common import Benchmark, seconds, start

TOPICS, ITEMS = 100, 1000
MOST = 2.0


def main(bench: Benchmark) -> None:
    """Measure each run."""
    posts = make_collection(bench.sized(1_000_000, 20_000))
    topics = topic_ids(bench.sized(TOPICS, 5))
    rules = RunRules(TaskKind.ANSWERS, topics, posts=posts, complete=True)
    compare(bench, "clean run", make_run(posts, topics, is_odd=False), rules)
    odd = make_run(posts, topics, is_odd=True)
    compare(bench, "run with ties, jumping ranks and CR LF", odd, rules)
    if path := bench.options.run:
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        # Every post of the collection is an answer, so that unknown ids are the only problem.
        answers = posts.with_columns(type=pl.lit("answer"))
        compare(bench, path.name, data, RunRules(TaskKind.ANSWERS, topics, posts=answers))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option for a run of one's own."""
    parser.add_argument(
        "--run", type=Path, help="also measure a run file of Task 1, plain or gzipped"
    )


def compare(bench: Benchmark, name: str, data: bytes, rules: RunRules) -> None:
    """Compare the medians of both sides; the first round is not measured."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index.parquet")
        sides = {
            "ours": lambda: seconds(lambda: ingest(data, rules, index)),
            "loop": lambda: seconds(lambda: bare_loop(data)),
        }
        times = bench.alternate(sides, unmeasured=1)
    ours, loop = (statistics.median(times[side]) for side in ("ours", "loop"))
    lines = data.count(b"\n")
    print(f"{lines:,} lines: ours {1000 * ours:.1f} ms, bare csv loop {1000 * loop:.1f} ms")
    bench.ratio(name, ours / loop, at_most=MOST)


def ingest(data: bytes, rules: RunRules, path: Path) -> None:
    """Check by all rules and write the index, as validation does."""
    report = check_run(data, rules)
    if report.index is None:
        raise SystemExit("\n".join(group.message for group in report.problems))
    report.index.write_parquet(path, compression="zstd", compression_level=1)


def bare_loop(data: bytes) -> list[tuple[str, str, int, float, str]]:
    """Split the lines and convert rank and score."""
    lines = csv.reader(io.StringIO(data.decode()), delimiter="\t")
    return [(row[0], row[-4], int(row[-3]), float(row[-2]), row[-1]) for row in lines]


def make_collection(posts: int) -> pl.DataFrame:
    """Make a collection in which every second post is an answer."""
    ids = random.Random(1).sample(range(1, 3 * posts), posts)
    return pl.DataFrame(
        {
            "post_id": [str(number) for number in ids],
            "type": ["answer", "question"] * (posts // 2),
            "thread_id": [str(number // 3) for number in ids],
        }
    )


def topic_ids(count: int) -> tuple[str, ...]:
    """Return topic ids as the labs number them."""
    return tuple(f"A.{number}" for number in range(1, count + 1))


def make_run(
    posts: pl.DataFrame, topics: tuple[str, ...], *, is_odd: bool, items: int = ITEMS
) -> bytes:
    """Make a run of ARQMath Task 1 with scores in full precision, a tenth of which tie.

    An odd run has nearly every problem that is accepted.
    """
    chance = random.Random(2)
    answers = posts.filter(pl.col("type") == "answer")["post_id"].to_list()
    lines = []
    for topic in topics:
        score = 30.0
        for rank, item in enumerate(chance.sample(answers, items), start=1):
            score -= chance.random() * 0.02 * (chance.random() > (0.9 if is_odd else 0.1))
            shown = 2 * rank + 1 if is_odd else rank
            lines.append(f"{topic}\t{item}\t{shown}\t{score!r}\trun_1")
    end = "\r\n" if is_odd else "\n"
    return (end.join(lines) + end).encode()


if __name__ == "__main__":
    start(main, rounds=9, add_options=add_options)
