"""Qrels and valid runs for tests. A run's index is written as validation writes it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from typing import Any

import polars as pl
from django.core.files.base import ContentFile
from django.http import HttpResponse
from django.test import Client

from arqkit.ranking import with_order
from arqlab.core.models import Task, Team
from arqlab.jobs.tasks import run_waiting_jobs
from assessment.models import Qrel, QrelSet
from submissions.models import Run, Upload

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
# topic: item: label
QRELS = {"A.1": {"p1": 3, "p2": 2, "p3": 0, "p4": 1}, "A.2": {"p1": 0, "p5": 2, "p6": 5}}
# topic: items, best first
GOOD = {"A.1": ["p1", "p2", "p9", "p4"], "A.2": ["p5", "p1"]}
POOR = {"A.1": ["p3", "p4", "p2"]}
MORE_QRELS = {
    f"M.{topic}": {f"m{topic}i{item}": 2 * (item < 3) for item in range(12)} for topic in range(48)
}
"""Topics beside those of QRELS: a task of two topics shows no means before the release."""
MORE_LISTS = {topic: list(labels)[:4] for topic, labels in MORE_QRELS.items()}


def made_by_job(client: Client, path: str) -> HttpResponse:
    """Ask a page for what a job makes, run the job as a worker does, and return the page."""
    assert client.post(path).status_code == 302
    run_waiting_jobs()
    return client.get(path)


def make_qrels(
    task: Task, labels: Mapping[str, Mapping[str, int]] = QRELS, **fields: Any
) -> QrelSet:
    """Create qrels of a task; the first are the current ones."""
    version = QrelSet.objects.filter(task=task).count() + 1
    values = {
        "name": f"v{version}",
        "items": "posts",
        "relevant_from": 2,
        "scale": task.protocol.labels.rows(),
        "is_current": version == 1,
        "lines": sum(map(len, labels.values())),
        "topics": len(labels),
    } | fields
    qrel_set = QrelSet.objects.create(
        task=task, version=version, sha256=sha256(repr(labels).encode()).hexdigest(), **values
    )
    Qrel.objects.bulk_create(
        Qrel(qrel_set=qrel_set, query_id=topic, doc_id=item, relevance=label)
        for topic, items in labels.items()
        for item, label in items.items()
    )
    return qrel_set


def index_of(
    lists: Mapping[str, Sequence[str]], scores: Mapping[str, float] | None = None
) -> pl.DataFrame:
    """Return a run's index of ranked lists. Scores fall with the rank, except those in `scores`."""
    rows = [
        (topic, item, None, rank, (scores or {}).get(item, 100.0 - rank))
        for topic, items in lists.items()
        for rank, item in enumerate(items, start=1)
    ]
    schema = {
        "topic": pl.String,
        "item": pl.String,
        "post": pl.String,
        "rank": pl.Int64,
        "score": pl.Float64,
    }
    return with_order(pl.DataFrame(rows, schema=schema, orient="row"))


def make_run(
    team: Team, task: Task, lists: Mapping[str, Sequence[str]] = GOOD, **fields: Any
) -> Run:
    """Create a valid run of ranked lists.

    `index` takes the place of the lists. `scores` maps items to scores, `answers` topics to answers
    (Task 3), `posts` formulas to posts.
    """
    index = fields.pop("index", None)
    if index is None:
        index = index_of(lists, fields.pop("scores", None))
    if answers := fields.pop("answers", None):
        index = index.with_columns(answer=pl.col("topic").replace_strict(answers))
    if posts := fields.pop("posts", None):
        index = index.with_columns(post=pl.col("item").replace_strict(posts, default=None))
    tag = fields.pop("tag", f"run{Run.objects.count() + 1}")
    if Run.objects.filter(task=task, identifier=(identifier := tag)).exists():
        identifier = f"{tag}-{Run.objects.count() + 1}"
    upload = Upload.objects.create(name=f"{tag}.tsv", size=1, sha256="0" * 64, uploaded_at=NOW)
    upload.file.save(f"{tag}.tsv", ContentFile(b"as sent"))
    run = Run(
        task=task,
        team=team,
        upload=upload,
        tag=tag,
        identifier=identifier,
        submitted_at=NOW,
        status_changed_at=NOW,
        status="valid",
    )
    for name, value in ({"report": {"items": task.trec_items, "order": "score"}} | fields).items():
        setattr(run, name, value)
    buffer = BytesIO()
    index.write_parquet(buffer)
    run.index.save(f"{tag}.parquet", ContentFile(buffer.getvalue()), save=False)
    run.save()
    return run
