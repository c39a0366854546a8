"""Claim: with 8 assessors, 100 topics and 45,000 judged items, the server answers with the radar of
a task, with a finding and with its assignments in under 300 ms each, on both databases.

Django's test client asks for the pages, middleware and templates included. Labels and times are
drawn at random; on top of them are contradictions between duplicate posts, a very fast series, a
drift over all the items of one assessor, and topics without a relevant item, which have a forecast.
Each database is measured in a process of its own. The goals are absolute.
"""

import random
import statistics
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
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

ASSESSORS, ITEMS = 8, 450
MOST_MILLISECONDS = 300
NOW = datetime(2026, 11, 21, tzinfo=UTC)
LABELS, WEIGHTS = (3, 2, 1, 0, 5), (2, 5, 10, 82, 1)
BARREN = 10  # every tenth topic has no relevant item


def main(bench: Benchmark) -> None:
    """Measure on both databases."""
    topics = bench.sized(100, 16)
    with tempfile.TemporaryDirectory() as folder, postgresql() as address:
        for database, url in (("SQLite", ""), ("PostgreSQL", address)):
            variables = environment(Path(folder, database), url)
            found = in_process(measure, variables, topics=topics, rounds=bench.rounds)
            print(f"{database}: {found['items']:,} items, {found['findings']} findings")
            bench.require("findings of three kinds", found["kinds"] == 3)
            for name, times in found["times"].items():
                took = 1000 * statistics.median(times)
                bench.limit(f"{name}, {database}", took, MOST_MILLISECONDS, "ms")


def measure(topics: int, rounds: int) -> dict[str, Any]:
    """Make the lab and return the seconds of each page."""
    set_up_django()
    task, organizer = make_judged(topics)
    from django.test import Client
    from django.urls import reverse

    from assessment.radar.selectors.findings import findings_of

    client, names = Client(), {"lab": task.lab.slug, "task": task.slug}
    client.force_login(organizer)
    findings = findings_of(task)
    longest = max(findings, key=lambda one: len(one.instances))
    pages = {
        "radar": reverse("assessment:radar-list", kwargs=names),
        "finding": reverse("assessment:radar-detail", kwargs=names | {"finding": longest.key}),
        "assignments": reverse("assessment:assignment-list", kwargs=names),
    }
    for path in pages.values():  # the first page compiles templates and prepares queries
        if client.get(path).status_code != 200:
            raise SystemExit(f"{path} does not answer.")
    return {
        "items": topics * ITEMS,
        "findings": len(findings),
        "kinds": len({one.kind for one in findings}),
        "times": {
            name: [seconds(lambda path=path: client.get(path)) for _ in range(rounds)]
            for name, path in pages.items()
        },
    }


def make_judged(topics: int) -> tuple[Any, Any]:
    """Make the lab with its pool and judgments. Return the task and an organizer."""
    from arqlab.core.models import Lab, Membership, Task, Topic, User
    from assessment.models import Assignment, DuplicatePosts, Judgment, PoolInstance

    lab = Lab.objects.create(slug="bench", name="Benchmark", protocol="arqmath-3")
    task = Task.objects.create(lab=lab, slug="task1", name="Task 1", kind="answers")
    people = [User.objects.create(username=f"assessor{number}") for number in range(ASSESSORS)]
    organizer = User.objects.create(username="organizer")
    Membership.objects.create(lab=lab, user=organizer, role="organizer")
    for person in people:
        Membership.objects.create(lab=lab, user=person, role="assessor")
    rows = Topic.objects.bulk_create(
        Topic(task=task, query_id=f"A.{at}", position=at, title_html="A title")
        for at in range(topics)
    )
    Assignment.objects.bulk_create(
        Assignment(topic=topic, assessor=people[at % ASSESSORS], assigned_at=NOW)
        for at, topic in enumerate(rows)
    )
    instances = make_pool(task, rows)
    draw = random.Random(1)
    Judgment.objects.bulk_create(
        Judgment(
            instance=instance,
            assessor=people[at // ITEMS % ASSESSORS],
            key=UUID(int=at),
            judged_at=NOW + timedelta(seconds=at),
            **drawn(draw, at),
        )
        for at, instance in enumerate(instances)
        if at % ITEMS < ITEMS - 1  # one item of each topic is left
    )
    pooled = list(PoolInstance.official.filter(item__topic=rows[1]))
    groups = [
        (one.doc_id, [one.pk, two.pk]) for one, two in zip(pooled[::2], pooled[1::2], strict=True)
    ]
    DuplicatePosts.objects.create(task=task, groups=groups, found_at=NOW)
    return task, organizer


def make_pool(task: Any, topics: list[Any]) -> list[Any]:
    """Make a pool of the topics, all but the last item of each judged. Return the instances."""
    from assessment.models import Pool, PoolInstance, PoolItem

    fields = {"settings": {}, "scale": task.protocol.labels.rows(), "seed": 1, "runs": []}
    pool = Pool.objects.create(task=task, number=1, sha256="0" * 64, frozen_at=NOW, **fields)
    items = PoolItem.objects.bulk_create(
        PoolItem(
            pool=pool,
            topic=topic,
            kind="posts",
            item=str(1_000_000 + at * ITEMS + place),
            position=place,
            done_at=NOW if place < ITEMS - 1 else None,
        )
        for at, topic in enumerate(topics)
        for place in range(ITEMS)
    )
    return PoolInstance.objects.bulk_create(
        PoolInstance(item=item, doc_id=item.item, post_id=item.item) for item in items
    )


def drawn(draw: random.Random, at: int) -> Mapping[str, int]:
    """Return the label and the time of a judgment."""
    topic, place = divmod(at, ITEMS)
    label = draw.choices(LABELS, WEIGHTS)[0]
    if topic % BARREN == 0:
        label = min(label, 1)
    if topic % ASSESSORS == 2:  # becomes stricter within each topic
        label = 2 if draw.random() > place / ITEMS else 0
    is_fast = topic == 3 and 100 <= place < 120
    return {
        "label": label,
        "active_ms": 1_200 if is_fast else round(draw.lognormvariate(10.3, 0.7)),
    }


if __name__ == "__main__":
    start(main, rounds=9, sides=(measure,))
