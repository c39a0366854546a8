"""The tables of frozen pools: those of a task, and the topics, labels and runs of one."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypedDict

from django.urls import reverse
from django.utils.html import format_html

from arqlab.core.models import Task
from arqlab.web import Column, Empty, Table, cells, to
from assessment.models import Pool
from assessment.pools.selectors.frozen import TopicSize
from assessment.pools.selectors.pool_pages import PoolPage
from assessment.pools.views.charts import POOLED_AS, topic_sizes_table
from assessment.qrels.selectors.counts import Size
from assessment.qrels.views.labels import label_chart, label_columns


class _PoolRow(NamedTuple):
    pool: Pool
    size: Size


def pools_table(task: Task, pools: Iterable[tuple[Pool, Size]]) -> Table[_PoolRow]:
    """Return the pool of a task and its supplements, with their progress."""
    address = [task.lab.slug, task.slug]
    return Table[_PoolRow](
        "pools",
        [
            Column(
                "Pool",
                lambda row: "Pool" if row.pool.number == 1 else f"Supplement {row.pool.number}",
                link=to("assessment:pool-detail", *address, of=lambda row: row.pool.number),
                is_head=True,
            ),
            Column("", lambda row: row.pool.number, name="number"),
            Column("Frozen", lambda row: row.pool.frozen_at, cells.TIME),
            Column("By", lambda row: row.pool.frozen_by and row.pool.frozen_by.name),
            Column("Items", lambda row: row.size.items, cells.COUNT),
            Column("Labels", lambda row: row.size.labels, cells.COUNT),
            Column("Judged", lambda row: row.size.done, cells.COUNT),
            Column("Judging", lambda row: "closed" if row.pool.closed_at else "open", cells.CHIP),
            Column("Reason", lambda row: row.pool.reason, cells.PROSE),
        ],
        [_PoolRow(pool, size) for pool, size in pools],
        empty=Empty(
            "No pool yet",
            "The frozen pool and its supplements appear here with their settings, runs, hashes and "
            "judging progress.",
            reverse("assessment:pool-plan", args=address),
            "Plan pool",
        ),
    )


def pool_tables(page: PoolPage) -> tuple[Table[Any], ...]:
    """Return the topics of a pool, their labels, and the runs that it was made of."""
    return (
        topic_sizes_table(page.pool.task, page.topics, has_progress=True),
        _labels_table(page.pool, page.topics),
        _runs_table(page),
    )


def _labels_table(pool: Pool, topics: Sequence[TopicSize]) -> Table[TopicSize]:
    judged = [topic for topic in topics if topic.judged]
    labels: list[Column[TopicSize]] = label_columns(pool.label_scale, lambda row: row.judged)
    return Table[TopicSize](
        "label-counts",
        [Column("Topic", lambda row: row.query_id, is_head=True, css="nowrap"), *labels],
        judged,
        chart=label_chart(((row.query_id, row.judged) for row in judged), pool.label_scale),
        fold="Labels by topic as a table",
    )


class RecordedRun(TypedDict):
    """A run as a pool records it (`Pool.runs`)."""

    run: int
    tag: str
    team: str
    kind: str
    depth: int
    sha256: str


def _runs_table(page: PoolPage) -> Table[RecordedRun]:
    pool, runs_by_key = page.pool, page.runs_by_key

    def name(pooled: RecordedRun) -> str:
        run = runs_by_key.get(pooled["run"])
        return format_html(
            "{} {}", pooled["tag"], cells.standing_chip(run.standing if run else None)
        )

    return Table[RecordedRun](
        "pool-runs",
        [
            Column("Run", name, is_head=True, name=None),
            Column("", lambda row: row["run"], name="id"),
            Column("", lambda row: row["tag"], name="run"),
            Column(
                "",
                lambda row: run.standing.key if (run := runs_by_key.get(row["run"])) else None,
                name="standing",
            ),
            Column("Team", lambda row: row["team"]),
            Column("Pooled as", lambda row: row["kind"], POOLED_AS),
            Column("Depth", lambda row: row["depth"], cells.COUNT),
            Column("SHA-256 of the index", lambda row: row["sha256"], cells.HASH),
        ],
        pool.runs,
    )
