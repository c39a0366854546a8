"""Claim: `import_posts` of 500 MB takes at most 8 times a bare `lxml.iterparse` loop, in under 400
MB at 100 and 500 MB.

    python benchmarks/import_posts.py [--posts FILE] [--megabytes 100 500] [--rounds 1]
                                      [--formulas ids|elements|dollars]

Makes a Posts.xml of each size out of real ones (ids, dates, scores and owners are new; formulas
have ids as in the labs' collections, or elements only, or stand between dollars as in the public
dump), and then in turn reads it with a bare loop that clears each row, and imports it by the
command: read, checked, made safe, formulas found, stored in a PostgreSQL server of its own, posts
indexed. Prints for each size the seconds of both (the clock's, and those of the processors, server
and worker processes with them), the ratio, and the peak memory of the importing process and its
children in sum (proportional, so that shared pages count once).
"""

import argparse
import gzip
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
from lxml import etree

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.everywhere import postgresql_server  # noqa: E402

POSTS = ROOT.parent / "shared/data/collection/Posts.xml.gz"
FORMULAS = ("ids", "elements", "dollars")
BARE = """
import sys, time, resource
from lxml import etree
start = time.perf_counter()
for _, row in etree.iterparse(sys.argv[1], tag="row"):
    row.clear()
usage = resource.getrusage(resource.RUSAGE_SELF)
print(time.perf_counter() - start, usage.ru_utime + usage.ru_stime)
"""


def main() -> None:
    """Print a line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--posts", type=Path, default=POSTS, help="a real Posts.xml.gz to draw from"
    )
    parser.add_argument("--megabytes", type=int, nargs="+", default=[100, 500])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--formulas", choices=FORMULAS, default="ids", help="how they are marked")
    parser.add_argument(
        "--folder", type=Path, help="where to make the files; a temporary one otherwise"
    )
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = stack.enter_context(postgresql_server())
        if address is None:
            sys.exit(
                "There is no PostgreSQL server on this machine; install it: apt-get install postgresql"
            )
        environment = os.environ | {
            "DATABASE_URL": address,
            "ARQLAB_DATA": str(folder / "data"),
            "ARQLAB_SECRET_KEY": "of a benchmark that nobody else can reach" * 2,
        }
        run(["manage.py", "migrate", "--verbosity", "0"], environment)
        for size in options.megabytes:
            path = folder / f"{options.formulas}-{size}" / "Posts.xml"
            rows = make_posts(options.posts, path, size * 10**6, options.formulas)
            print(
                f"{path.stat().st_size / 1e6:.0f} MB, {rows:,} posts, formulas have {options.formulas}"
            )
            for number in range(options.rounds):
                compare(path, f"bench-{size}-{number}", environment)
            path.unlink()


def compare(path: Path, slug: str, environment: dict[str, str]) -> None:
    """Time both, the bare loop before and after, so that what else the machine does falls on both."""
    before = bare(path)
    ours = imported(path, slug, environment)
    after = bare(path)
    clock, cpu = (before[0] + after[0]) / 2, (before[1] + after[1]) / 2
    print(f"  bare iterparse    {clock:6.1f} s   {cpu:6.1f} s of processors")
    print(
        f"  import_posts      {ours[0]:6.1f} s   {ours[1]:6.1f} s of processors and {ours[2]:.1f} s of the server's"
    )
    print(f"  ratio             {ours[0] / clock:6.1f}     (at most 8.0)")
    print(f"  peak memory       {ours[3] / 1e6:6.0f} MB  (under 400 MB)", flush=True)


def bare(path: Path) -> tuple[float, float]:
    """Return the clock's and the processor's seconds of the loop."""
    found = subprocess.run(
        [sys.executable, "-c", BARE, str(path)], check=True, capture_output=True, text=True
    )
    clock, cpu = found.stdout.split()
    return float(clock), float(cpu)


def imported(
    path: Path, slug: str, environment: dict[str, str]
) -> tuple[float, float, float, float]:
    """Return the clock's seconds, those of the processors, those of the server, and the peak of
    memory in bytes.
    """
    server = server_seconds(environment["DATABASE_URL"])
    before = os.times()
    start = time.perf_counter()
    command = [
        sys.executable,
        "manage.py",
        "import_posts",
        str(path),
        "--collection",
        slug,
        "--verbosity",
        "0",
    ]
    with subprocess.Popen(command, cwd=ROOT, env=environment) as process:
        peak = [0.0]
        watcher = threading.Thread(target=watch, args=(process.pid, peak))
        watcher.start()
        if process.wait():
            sys.exit("The import failed.")
    clock = time.perf_counter() - start
    watcher.join()
    after = os.times()
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return clock, cpu, server_seconds(environment["DATABASE_URL"]) - server, peak[0]


def watch(pid: int, peak: list[float]) -> None:
    """Look at the memory of a process and its children until it ends."""
    while psutil.pid_exists(pid):
        try:
            process = psutil.Process(pid)
            family = [process, *process.children(recursive=True)]
            peak[0] = max(peak[0], sum(one.memory_full_info().pss for one in family))
        except psutil.Error:
            pass
        time.sleep(0.1)


def server_seconds(address: str) -> float:
    """Return the seconds that a PostgreSQL server used so far, its processes and those that ended."""
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


def run(arguments: list[str], environment: dict[str, str]) -> None:
    """Run a command of ours."""
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=True)


def make_posts(source: Path, path: Path, size: int, formulas: str) -> int:
    """Write a Posts.xml of about `size` bytes: threads drawn from real posts, with new ids; gives
    the number of posts.
    """
    chance = random.Random(3)
    with gzip.open(source) as file:
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
    """Return what a real dump has and the sample lacks."""
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
    """Mark the formulas of a text as FORMULAS says; the ids are new."""

    def one(found: re.Match[str]) -> str:
        nonlocal last
        last += 1
        if formulas == "dollars":
            return found[1]
        known = f' id="{last}"' if formulas == "ids" else ""
        return f'<span class="math-container"{known}>{found[1]}</span>'

    return re.sub(r'<span class="math-container"(?: id="\d+")?>([^<]*)</span>', one, html), last


def as_xml(row: dict[str, str]) -> str:
    """Write a row as the dumps do."""
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
    main()
