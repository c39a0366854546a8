"""Claim: `load_lab` loads a real lab with 6,164 posts and 62,131 formula instances in under 60
seconds, on both databases.

The lab is ARQMath-2 in ../shared/data; at the smallest size it is NTCIR-12, which has no
collection. The command loads each folder into a new database, and then again: the second time must
change nothing. Seconds include the start of the process
and, the first time, the migration. The goal is absolute.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import psycopg2

from benchmarks.common import Benchmark, environment, postgresql, shared_data, start
from tests.paths import ROOT

MOST_SECONDS = 60


def main(bench: Benchmark) -> None:
    """Measure on both databases."""
    lab = shared_data(bench.sized("arqmath-2", "ntcir-12-wfb"))
    with postgresql() as server:
        for database, address in (("SQLite", ""), ("PostgreSQL", server)):
            times = [load_twice(bench, lab, address, number) for number in range(bench.rounds)]
            first, second = map(statistics.median, zip(*times, strict=True))
            print(f"{database}: {first:.1f} s, again {second:.1f} s")
            bench.limit(f"load_lab, {database}", first, MOST_SECONDS, "s")


def load_twice(bench: Benchmark, lab: Path, server: str, number: int) -> tuple[float, float]:
    """Load a lab twice into a new database; return the seconds of each time."""
    with tempfile.TemporaryDirectory() as folder:
        variables = environment(Path(folder), new_database(server, number))
        first, _ = load(lab, variables)
        second, printed = load(lab, variables)
    bench.require("loading again changes nothing", printed.startswith("Nothing to change."))
    return first, second


def new_database(server: str, number: int) -> str:
    """Create a database on a server of PostgreSQL and return its address."""
    if not server:
        return ""
    with closing(psycopg2.connect(server)) as connection:
        connection.autocommit = True
        connection.cursor().execute(f"CREATE DATABASE lab_{number}")
    return f"{server.rpartition('/')[0]}/lab_{number}"


def load(lab: Path, variables: Mapping[str, str]) -> tuple[float, str]:
    """Return the seconds of the command and its output."""
    started = time.perf_counter()
    command = [sys.executable, "manage.py", "load_lab", str(lab)]
    finished = subprocess.run(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True, check=True
    )
    return time.perf_counter() - started, finished.stdout


if __name__ == "__main__":
    start(main, rounds=1)
