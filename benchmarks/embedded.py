"""Claim: on SQLite, as one command starts it, each of eight assessors gets the answer to 99% of
their judgments within 100 ms, also while 40 runs are scored.

`manage.py serve` runs on SQLite with its background process. Assessors judge over HTTP as the page
does, each as soon as the next item arrives; on two cores, they and the server want more than there
is. In each round they judge once on a quiet server and once from the moment that 40 runs of 100
topics with 1,000 items wait for their scores until all are scored.
"""

import contextlib
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import judging, score
from benchmarks.common import Benchmark, environment, in_process, percentile, serving, start
from tests.everywhere import free_port

ASSESSORS, LEAST, MOST_MS = 8, 56, 100
SCORES = ("evaluation_topicscore", "evaluation_runscore", "evaluation_scoring")


def main(bench: Benchmark) -> None:
    """Judge in turns on a quiet server and while runs are scored."""
    runs, topics = bench.sized(40, 2), bench.sized(100, 4)
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        variables = environment(folder)
        score.make_lab(folder, 1 / 3, runs=runs, topics=topics)
        size = {"items": bench.sized(8000, 1600), "posts": bench.sized(None, 600)}
        people = {"used": ASSESSORS, "assessors": ASSESSORS}
        sessions, _ = in_process(judging.make_lab, variables, **size, **people)
        command = ["manage.py", "serve", "--bind", f"127.0.0.1:{port}"]
        with serving(command, port, variables):
            place = judging.Place(port, variables, "", sessions, [], 1)
            in_process(score.make_database, variables, folder=name)
            sides = {
                "quiet": lambda: judge(place, folder, bench.sized(LEAST, 2), runs=0),
                "scoring": lambda: judge(place, folder, bench.sized(LEAST, 2), runs=runs),
            }
            wait_for_scores(folder, runs)
            rounds = bench.alternate(sides)
    for side, found in rounds.items():
        slow = statistics.median(percentile(times, 99) for times in found)
        half = statistics.median(percentile(times, 50) for times in found)
        count = sum(map(len, found))
        print(f"{side}: {count} judgments, median {half:.0f} ms, p99 {slow:.0f} ms")
        bench.limit(f"p99 of judgments, {side}", slow, MOST_MS, "ms")


def judge(place: judging.Place, folder: Path, least: int, *, runs: int) -> list[float]:
    """Return the milliseconds of judgments: of each assessor at least so many, and more until all
    runs are scored again.
    """
    with database(folder) as connection:
        for command in judging.RESET[:2]:
            connection.execute(command)
    workers = [judging.assessor(place, number) for number in range(ASSESSORS)]
    over, times = threading.Event(), list[float]()

    def work(one: Callable[[], None]) -> None:
        done = 0
        while done < least or not over.is_set():
            started = time.perf_counter()
            one()
            times.append(1000 * (time.perf_counter() - started))
            done += 1

    threads = [threading.Thread(target=work, args=[one]) for one in workers]
    if runs:
        with database(folder) as connection:
            for table in SCORES:
                connection.execute(f"DELETE FROM {table}")  # our names
    for thread in threads:
        thread.start()
    wait_for_scores(folder, runs)
    over.set()
    for thread in threads:
        thread.join()
    return times


def wait_for_scores(folder: Path, runs: int) -> None:
    """Wait until so many runs are scored."""
    while True:
        with database(folder) as connection:
            [[count]] = connection.execute("SELECT COUNT(DISTINCT run_id) FROM evaluation_runscore")
        if count >= runs:
            return
        time.sleep(0.1)


@contextlib.contextmanager
def database(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of the server for a transaction."""
    opened = sqlite3.connect(folder / "arqlab.sqlite3", timeout=60)
    with contextlib.closing(opened) as connection, connection:
        yield connection


if __name__ == "__main__":
    make_lab, make_database = judging.make_lab, score.make_database
    start(main, rounds=3, sides=(make_lab, make_database))
