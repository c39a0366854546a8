"""Claim: 35,000 judgments are exported in under 2 seconds and 10 queries, on both databases.

    python benchmarks/export_qrels.py [--rounds 5]

A pool of 80 topics with 450 formula instances each, three to a formula; 35,000 of the 36,000 are
judged, every tenth of them twice. Exported are the draft by instance, the draft by formula, and a
frozen version, each by the command itself, in a process of its own that is started once for each
database; the slowest round counts. Prints seconds, queries, memory.
"""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.everywhere import postgresql_server

TOPICS, INSTANCES, TOGETHER, JUDGED = 80, 450, 3, 35_000
WANTED_SECONDS, WANTED_QUERIES = 2.0, 10
NOW = datetime(2026, 11, 21, tzinfo=UTC)
EXPORTS = {
    "draft by instance": ["--complete", "--all-topics"],
    "draft by formula": ["--level", "visual"],
    "frozen version": ["--qrels", "official"],
}


def main() -> int:
    """Measure on both databases; 0 when the claim holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    holds = measured("SQLite", "", rounds)
    with postgresql_server() as address:
        if address is None:
            print("PostgreSQL: no server was found here.")
        else:
            holds &= measured("PostgreSQL", address, rounds)
    return 0 if holds else 1


def measured(name: str, address: str, rounds: int) -> bool:
    """Measure on one database in a process of its own, and say whether the claim held."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "ARQLAB_DATA": folder,
            "DATABASE_URL": address,
            "ARQLAB_SECRET_KEY": "only for a measurement",
        }
        variables = os.environ | settings | {"DJANGO_SETTINGS_MODULE": "arqlab.settings"}
        command = [sys.executable, __file__, "--inside", str(rounds)]
        out = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, env=variables
        ).stdout
    holds = True
    for export, (seconds, queries, lines, megabytes) in json.loads(out).items():
        held = seconds < WANTED_SECONDS and queries <= WANTED_QUERIES
        holds &= held
        print(
            f"{name}, {export}: {lines:,} lines in {seconds:.2f} s (wanted {WANTED_SECONDS}), {queries} queries "
            f"(wanted {WANTED_QUERIES}), {megabytes} MB; {'held' if held else 'NOT HELD'}"
        )
    return holds


def inside(rounds: int) -> None:
    """Make the lab, export, and print the figures as JSON."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    call_command("migrate", verbosity=0)
    make_judged()
    figures = {}
    for export, options in EXPORTS.items():
        times, queries, out = [], 0, io.StringIO()
        for _ in range(rounds):
            out = io.StringIO()
            with CaptureQueriesContext(connection) as seen:
                started = time.perf_counter()
                call_command(
                    "export_qrels", "bench/task2", *options, stdout=out, stderr=io.StringIO()
                )
                times.append(time.perf_counter() - started)
            queries = len(seen)
        # Not getrusage: its peak counts the parent's memory from before this program was started.
        peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        figures[export] = (
            max(times),
            queries,
            out.getvalue().count("\n"),
            int(peak[1]) // 1024 if peak else 0,
        )
    print(json.dumps(figures))


def make_judged() -> None:
    """Make the lab with its pool and judgments, and freeze a version."""
    from arqlab.core.models import Lab, Task, Topic
    from arqlab.ir.judgments.qrels import Level
    from assessment.models import Judgment, Pool, PoolInstance, PoolItem
    from assessment.qrels.services.versions import freeze_qrels

    lab = Lab.objects.create(slug="bench", name="Benchmark", protocol="arqmath-3")
    task = Task.objects.create(
        lab=lab, slug="task2", name="Task 2", kind="formulas", trec_items="formula-ids"
    )
    fields = {"settings": {}, "scale": task.protocol.labels.rows(), "seed": 1, "runs": []}
    pool = Pool.objects.create(task=task, number=1, sha256="0" * 64, frozen_at=NOW, **fields)
    names = [f"B.{number}" for number in range(1, TOPICS + 1)]
    topics = Topic.objects.bulk_create(
        Topic(task=task, query_id=name, position=at) for at, name in enumerate(names)
    )
    places = range(INSTANCES // TOGETHER)
    items = PoolItem.objects.bulk_create(
        PoolItem(
            pool=pool, topic=topic, kind="visual-ids", item=str(100_000 + place), position=place
        )
        for topic in topics
        for place in places
    )
    instances = PoolInstance.objects.bulk_create(
        PoolInstance(
            item=item, doc_id=str(1_000_000 + at * TOGETHER + place), position=place, post_id="1"
        )
        for at, item in enumerate(items)
        for place in range(TOGETHER)
    )
    judged = instances[:JUDGED]
    # Every tenth was changed once: its first judgment does not count any more.
    first = [Judgment(**row(one, at, 0), is_current=at % 10 > 0) for at, one in enumerate(judged)]
    Judgment.objects.bulk_create(first)
    Judgment.objects.bulk_create(
        Judgment(**row(one, at, 1), supersedes=first[at])
        for at, one in enumerate(judged)
        if at % 10 == 0
    )
    freeze_qrels(task=task, name="official", level=Level.INSTANCES, complete=True, by=None, at=NOW)


def row(instance: object, at: int, time_round: int) -> dict[str, object]:
    """Return the fields of a judgment; the labels are spread over all six."""
    label = (0, 0, 0, 1, 2, 3, 0, 5, 0, 6, 2)[(at + time_round) % 11]
    key = UUID(int=2 * at + time_round)
    return {"instance": instance, "label": label, "active_ms": 26_600, "key": key, "judged_at": NOW}


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--inside":
        inside(int(sys.argv[2]))
    else:
        sys.exit(main())
