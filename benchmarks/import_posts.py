"""Claim: `import_posts` of 500 MB takes at most 8 times a bare `lxml.iterparse` loop, in under 400
MB of memory at 100 and 500 MB.

A Posts.xml of each size is made from real posts with new ids, dates, scores and owners. Formulas
have ids as in the labs' collections, elements only, or dollars as in the public data dump. The loop
reads the file and clears each row. The command reads, checks and sanitizes the posts, finds their
formulas, stores all in PostgreSQL and indexes the posts. Memory is the peak of the command and its
children; pages they share count once.
"""

import argparse
import gzip
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import psutil
from lxml import etree

from benchmarks.common import (
    Benchmark,
    environment,
    in_process,
    postgresql,
    seconds,
    shared_data,
    start,
)
from tests.everywhere import migrate
from tests.paths import ROOT

FORMULAS = ("ids", "elements", "dollars")
SIZES, SMALLEST = (100.0, 500.0), (0.2,)  # MB
MOST, MOST_MEGABYTES = 8.0, 400.0


def main(bench: Benchmark) -> None:
    """Measure each size."""
    formulas = bench.options.formulas
    with tempfile.TemporaryDirectory() as folder, postgresql() as address:
        variables = environment(Path(folder, "data"), address)
        migrate(variables)
        for size in bench.sized(SIZES, SMALLEST):
            path = Path(folder, f"{formulas}-{round(size * 1000)}", "Posts.xml")
            posts = make_posts(path, round(size * 1e6), formulas)
            print(f"{size:g} MB, {posts:,} posts, formulas have {formulas}")
            compare(bench, path, f"{size:g} MB", variables)
            path.unlink()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option for the formulas."""
    parser.add_argument("--formulas", choices=FORMULAS, default="ids", help="how they are marked")


def compare(bench: Benchmark, path: Path, name: str, variables: Mapping[str, str]) -> None:
    """Compare time and memory of both sides."""
    numbers = count()
    found = bench.alternate(
        {
            "loop": lambda: [in_process(bare_loop, path=str(path))],
            "ours": lambda: import_posts(path, f"{path.parent.name}-{next(numbers)}", variables),
        }
    )
    loop = statistics.median(took for [took] in found["loop"])
    took, own, server, peak = map(statistics.median, zip(*found["ours"], strict=True))
    print(
        f"  loop {loop:.2f} s, ours {took:.1f} s"
        f" (processor time {own:.1f} s, server {server:.1f} s)"
    )
    bench.ratio(f"import_posts, {name}", took / loop, at_most=MOST)
    bench.limit(f"import_posts, {name}, peak memory", peak / 1e6, MOST_MEGABYTES, "MB")


def bare_loop(path: str) -> float:
    """Return the seconds of a loop that reads every row and clears it."""

    def loop() -> None:
        for _, row in etree.iterparse(path, tag="row"):
            row.clear()

    return seconds(loop)


def import_posts(path: Path, slug: str, variables: Mapping[str, str]) -> list[float]:
    """Import a file; return the seconds, the processor time, that of the server, and the peak
    memory in bytes.
    """
    server = server_seconds(variables["DATABASE_URL"])
    before, started = os.times(), time.perf_counter()
    command = [sys.executable, "manage.py", "import_posts", str(path), "--collection", slug]
    with subprocess.Popen([*command, "--verbosity", "0"], cwd=ROOT, env=variables) as process:
        peak = [0.0]
        watcher = threading.Thread(target=watch, args=(process.pid, peak))
        watcher.start()
        if process.wait():
            sys.exit("The import failed.")
    took = time.perf_counter() - started
    watcher.join()
    own = sum(os.times()[2:4]) - sum(before[2:4])
    return [took, own, server_seconds(variables["DATABASE_URL"]) - server, peak[0]]


def watch(pid: int, peak: list[float]) -> None:
    """Record the peak memory of a process and its children until it ends."""
    while psutil.pid_exists(pid):
        try:
            process = psutil.Process(pid)
            family = [process, *process.children(recursive=True)]
            peak[0] = max(peak[0], sum(one.memory_full_info().pss for one in family))
        except psutil.Error:
            pass
        time.sleep(0.1)


def server_seconds(address: str) -> float:
    """Return the processor time that a PostgreSQL server has used, ended processes included."""
    port = address.rsplit(":", 1)[1].split("/")[0]
    total = 0.0
    for process in psutil.process_iter(["name", "cmdline"]):
        line = process.info["cmdline"] or []
        if (
            process.info["name"] == "postgres"
            and "-p" in line
            and line[line.index("-p") + 1] == port
        ):
            total += sum(sum(one.cpu_times()[:4]) for one in process.children())
            total += sum(process.cpu_times()[:4])
    return total


def make_posts(path: Path, size: int, formulas: str) -> int:
    """Write a Posts.xml of about `size` bytes: threads of real posts with new ids. Return the
    number of posts.
    """
    chance = random.Random(3)
    with gzip.open(shared_data("collection/Posts.xml.gz")) as file:
        rows = [dict(row.attrib) for row in etree.parse(file).getroot()]
    questions = [row for row in rows if row["PostTypeId"] == "1"]
    answers = [row for row in rows if row["PostTypeId"] == "2"]
    path.parent.mkdir(parents=True, exist_ok=True)
    number, formula, written = 0, 0, 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        written += file.write('<?xml version="1.0" encoding="utf-8"?>\n<posts>\n')
        while written < size:
            thread = number + 1
            for place in range(1 + chance.choice((0, 1, 1, 2, 3))):
                number += 1
                row = dict(chance.choice(answers if place else questions))
                row |= new_values(chance, number)
                if place:
                    row["ParentId"] = str(thread)
                for name in ("Title", "Body"):
                    if name in row:
                        row[name], formula = marked(row[name], formula, formulas)
                written += file.write("  " + as_xml(row) + "\n")
        file.write("</posts>\n")
    return number


def new_values(chance: random.Random, number: int) -> dict[str, str]:
    """Return the fields that a real data dump has and the sample lacks."""
    moment = datetime(2010, 7, 20, tzinfo=UTC) + timedelta(
        seconds=number * 90 + chance.randrange(60)
    )
    return {
        "Id": str(number),
        "CreationDate": f"{moment:%Y-%m-%dT%H:%M:%S}.123",
        "Score": str(chance.randrange(-3, 40)),
        "ViewCount": str(chance.randrange(20, 90_000)),
        "OwnerUserId": str(chance.randrange(1, 400_000)),
        "LastActivityDate": f"{moment:%Y-%m-%dT%H:%M:%S}.123",
        "CommentCount": str(chance.randrange(9)),
        "ContentLicense": "CC BY-SA 3.0",
    }


def marked(html: str, last: int, formulas: str) -> tuple[str, int]:
    """Mark the formulas of a text in one of the ways of `FORMULAS`; the ids are new."""

    def one(found: re.Match[str]) -> str:
        nonlocal last
        last += 1
        if formulas == "dollars":
            return found[1]
        known = f' id="{last}"' if formulas == "ids" else ""
        return f'<span class="math-container"{known}>{found[1]}</span>'

    return re.sub(r'<span class="math-container"(?: id="\d+")?>([^<]*)</span>', one, html), last


def as_xml(row: dict[str, str]) -> str:
    """Return a row as the data dumps have it."""
    escapes = (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ('"', "&quot;"),
        ("\n", "&#xA;"),
        ("\r", "&#xD;"),
    )
    for name, value in row.items():
        for character, escape in escapes:
            value = value.replace(character, escape)
        row[name] = value
    return "<row " + " ".join(f'{name}="{value}"' for name, value in row.items()) + " />"


if __name__ == "__main__":
    start(main, rounds=1, sides=(bare_loop,), add_options=add_options)
