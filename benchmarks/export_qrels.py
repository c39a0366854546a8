"""Claim: 35,000 judgments are exported in under 2 seconds and 10 queries, on both databases.

The pool has 80 topics with 450 formula instances each, three per formula; 35,000 of the 36,000 are
judged, every tenth of them twice. The command exports the draft by instance, the draft by formula,
and a frozen version. Each database is measured in a process of its own. The goals are absolute.
"""

import io
import statistics
import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID

from benchmarks.common import (
    Benchmark,
    environment,
    in_process,
    postgresql,
    seconds,
    set_up_django,
    start,
)

INSTANCES, TOGETHER = 450, 3
MOST_SECONDS, MOST_QUERIES = 2.0, 10
NOW = datetime(2026, 11, 21, tzinfo=UTC)
EXPORTS = {
    "draft by instance": ["--complete", "--all-topics"],
    "draft by formula": ["--level", "visual"],
    "frozen version": ["--qrels", "official"],
}


def main(bench: Benchmark) -> None:
    """Measure on both databases."""
    topics = bench.sized(80, 2)
    with tempfile.TemporaryDirectory() as folder, postgresql() as address:
        for database, url in (("SQLite", ""), ("PostgreSQL", address)):
            variables = environment(Path(folder, database), url)
            found = in_process(export, variables, topics=topics, rounds=bench.rounds)
            for name, times, queries, lines in found:
                print(f"{database}, {name}: {lines:,} lines")
                took = statistics.median(times)
                bench.limit(f"{database}, {name}", took, MOST_SECONDS, "s")
                bench.require(f"at most {MOST_QUERIES} queries", queries <= MOST_QUERIES)


def export(topics: int, rounds: int) -> list[tuple[str, list[float], int, int]]:
    """Make the lab and export it; return the seconds, queries and lines of each export."""
    set_up_django()
    make_judged(topics)
    return [(name, *measure(options, rounds)) for name, options in EXPORTS.items()]


def measure(options: list[str], rounds: int) -> tuple[list[float], int, int]:
    """Return the seconds of each round, the queries and the lines of one export."""
    from django.core.management import call_command
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    times = []
    for _ in range(rounds):
        out = io.StringIO()
        export = partial(call_command, "export_qrels", "bench/task2", *options)
        with CaptureQueriesContext(connection) as queries:
            times.append(seconds(partial(export, stdout=out, stderr=io.StringIO())))
    return times, len(queries), out.getvalue().count("\n")


def make_judged(topics: int) -> None:
    """Make the lab with its pool and judgments, and freeze a version of the qrels."""
    from arqlab.core.models import Lab, Task, Topic
    from assessment.models import Judgment, Pool, PoolInstance, PoolItem
    from assessment.qrels.services.versions import QrelsChoice, freeze_qrels

    lab = Lab.objects.create(slug="bench", name="Benchmark", protocol="arqmath-3")
    task = Task.objects.create(
        lab=lab, slug="task2", name="Task 2", kind="formulas", trec_items="formula-ids"
    )
    fields = {"settings": {}, "scale": task.protocol.labels.rows(), "seed": 1, "runs": []}
    pool = Pool.objects.create(task=task, number=1, sha256="0" * 64, frozen_at=NOW, **fields)
    names = [f"B.{number}" for number in range(1, topics + 1)]
    rows = Topic.objects.bulk_create(
        Topic(task=task, query_id=name, position=at) for at, name in enumerate(names)
    )
    places = range(INSTANCES // TOGETHER)
    items = PoolItem.objects.bulk_create(
        PoolItem(
            pool=pool, topic=topic, kind="visual-ids", item=str(100_000 + place), position=place
        )
        for topic in rows
        for place in places
    )
    instances = PoolInstance.objects.bulk_create(
        PoolInstance(
            item=item, doc_id=str(1_000_000 + at * TOGETHER + place), position=place, post_id="1"
        )
        for at, item in enumerate(items)
        for place in range(TOGETHER)
    )
    judged = instances[: len(instances) * 35 // 36]
    # Every tenth was changed once: its first judgment no longer counts.
    first = [
        Judgment(**fields_of(one, at, 0), is_current=at % 10 > 0) for at, one in enumerate(judged)
    ]
    Judgment.objects.bulk_create(first)
    Judgment.objects.bulk_create(
        Judgment(**fields_of(one, at, 1), supersedes=first[at])
        for at, one in enumerate(judged)
        if at % 10 == 0
    )
    freeze_qrels(task=task, choice=QrelsChoice("official", complete=True), by=None, at=NOW)


def fields_of(instance: object, at: int, time_round: int) -> dict[str, object]:
    """Return the fields of a judgment; all six labels occur."""
    label = (0, 0, 0, 1, 2, 3, 0, 5, 0, 6, 2)[(at + time_round) % 11]
    key = UUID(int=2 * at + time_round)
    return {"instance": instance, "label": label, "active_ms": 26_600, "key": key, "judged_at": NOW}


if __name__ == "__main__":
    start(main, rounds=5, sides=(export,))
