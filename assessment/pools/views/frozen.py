"""The pages of frozen pools: the list, a pool with its settings, and its file."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypedDict
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from arqkit.protocols.presets import PROTOCOLS, PoolProtocol
from arqlab.core.errors import UserError
from arqlab.core.models import Task, Visitor
from arqlab.core.views import signed_in, told
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import (
    ROWS,
    TASK,
    Column,
    Empty,
    Pages,
    Tab,
    Table,
    answer,
    cells,
    exact_response,
    for_organizers,
    organizers,
    to,
)
from assessment.models import Pool
from assessment.pools.forms import choice_data
from assessment.pools.selectors.choices import (
    PoolChoice,
    choice_of,
    pooled_together,
    runs_to_choose,
)
from assessment.pools.selectors.frozen import (
    TopicSize,
    can_be_discarded,
    pool_file,
    pool_sizes,
    topic_sizes,
)
from assessment.pools.selectors.plans import contributing_runs
from assessment.pools.selectors.sources import task_sources
from assessment.pools.services.changing import close_pool, discard_pool, open_pool
from assessment.pools.views.charts import POOLED_AS, topic_sizes_table
from assessment.qrels.selectors.counts import Size
from assessment.qrels.views.labels import label_chart, label_columns
from collection.models import VisualMap
from collection.selectors.collections import collection_of
from collection.selectors.visual_maps import newest_map
from submissions.models import Run

"""What a pool's page adds up of its topics."""


@for_organizers
def organized_pool_or_404(user: Visitor, lab_slug: str, task_slug: str, number: int) -> Pool:
    """Return a pool of a task for its organizers; raise 404 for anyone else."""
    task = organized_task_or_404(user, lab_slug, task_slug)
    pools = Pool.official.select_related("task__lab", "frozen_by", "visual_map__collection")
    return get_object_or_404(pools, task=task, number=number)


pages = Pages(f"{TASK}pools/", organized_pool_or_404, section="pools")


class PoolNews(NamedTuple):
    """Changes since the pools were frozen: late runs, names of withdrawn runs, newer visual ids."""

    late: list[Run]
    withdrawn: list[str]
    newer_map: VisualMap | None

    @property
    def is_any(self) -> bool:
        """Return whether a supplement may have items."""
        return bool(self.late or self.newer_map)


def pool_news(task: Task, pools: Sequence[Pool]) -> PoolNews:
    """Return the changes since a task's pools (in order) were frozen.

    Runs that would contribute nothing to a supplement with the last pool's settings are left out.
    """
    if not pools:
        return PoolNews([], [], None)
    pooled = {run["run"]: f"{run['team']} {run['tag']}" for pool in pools for run in pool.runs}
    standing = set(Run.objects.scorable().filter(pk__in=pooled).values_list("pk", flat=True))
    maps = [pool.visual_map_id for pool in pools if pool.visual_map_id]
    collection = collection_of(task.lab) if maps else None
    newest = newest_map(collection) if collection else None
    return PoolNews(
        late=_late(task, choice_of(pools[-1]), pooled),
        withdrawn=[name for key, name in pooled.items() if key not in standing],
        newer_map=newest if newest and newest.pk != maps[-1] else None,
    )


def _late(task: Task, choice: PoolChoice, pooled: Container[int]) -> list[Run]:
    sources = task_sources(task, choice)
    runs = tuple(run for run in sources.runs if run.pk not in pooled)
    written = [run for run in sources.written if run.pk not in pooled]
    if runs:  # read indexes only in this case
        # How deep other runs reach, rank by rank, depends on all.
        read = runs if choice.protocol.method == "depth" else sources.runs
        try:
            brought = contributing_runs(replace(sources, runs=read))
        except UserError:  # Two runs differ in an answer; the page of the supplement reports it.
            return [*runs, *written]
        runs = tuple(run for run in runs if run.pk in brought)
    return [*runs, *written]


@pages.read(
    "",
    "pool-list",
    tabs=(Tab("task", "Pools", 40, organizers),),
    api=ROWS,
    access=organized_task_or_404,
)
def pool_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the pool of a task and its supplements, and what has changed since the freeze."""
    pools = list(Pool.official.filter(task=task).select_related("frozen_by").order_by("number"))
    context = {"news": pool_news(task, pools), "together": pooled_together(task)}
    return answer(request, "assessment/pool_list.html", context, _pools_table(task, pools))


class _PoolRow(NamedTuple):
    pool: Pool
    size: Size


def _pools_table(task: Task, pools: Sequence[Pool]) -> Table[_PoolRow]:
    address, sizes = [task.lab.slug, task.slug], pool_sizes(pools)
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
        [_PoolRow(pool, sizes[pool.pk]) for pool in pools],
        empty=Empty(
            "No pool yet",
            "The frozen pool and its supplements appear here with their settings, runs, hashes and "
            "judging progress.",
            reverse("assessment:pool-plan", args=address),
            "Plan pool",
        ),
    )


@dataclass(frozen=True)
class PoolPage:
    """A pool with its settings in words, and its size."""

    pool: Pool
    depths: str
    preset: str
    size: Size
    can_be_discarded: bool


@pages.read("<number:number>/", "pool-detail", api=ROWS)
def pool_detail(request: HttpRequest, pool: Pool) -> HttpResponse:
    """Show a pool: its settings, its size per topic and its state; or return its file."""
    if request.GET.get("format") == "tsv":
        name = f"{pool.task.lab.slug}-{pool.task.slug}-pool-{pool.number}.tsv"
        return exact_response(pool_file(pool), name)
    topics = topic_sizes(pool)
    page = PoolPage(
        pool,
        depths=settings_summary(PoolProtocol(**pool.settings)),
        preset=PROTOCOLS[pool.preset].name if pool.preset else "",
        size=Size(
            sum(topic.items for topic in topics),
            sum(topic.labels for topic in topics),
            sum(topic.done for topic in topics),
        ),
        can_be_discarded=can_be_discarded(pool),
    )
    tables = (
        topic_sizes_table(pool.task, topics, has_progress=True),
        _labels_table(pool, topics),
        _runs_table(pool),
    )
    return answer(request, "assessment/pool_detail.html", vars(page), *tables)


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


def _runs_table(pool: Pool) -> Table[RecordedRun]:
    runs_by_key = Run.objects.in_bulk([run["run"] for run in pool.runs])

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


@pages.action("<number:number>/close/", "pool-close")
def pool_close(request: HttpRequest, pool: Pool) -> HttpResponse:
    """Close a pool for judging."""
    with told(request):
        close_pool(pool=pool, by=signed_in(request), at=timezone.now())
        messages.success(
            request, "Judging is closed. ArqLab no longer accepts judgments for this pool."
        )
    return _to(pool.task, pool.number)


@pages.action("<number:number>/open/", "pool-open")
def pool_open(request: HttpRequest, pool: Pool) -> HttpResponse:
    """Reopen a pool for judging."""
    with told(request):
        open_pool(pool=pool, by=signed_in(request))
        messages.success(request, "Judging is open again.")
    return _to(pool.task, pool.number)


@pages.action("<number:number>/discard/", "pool-discard")
def pool_discard(request: HttpRequest, pool: Pool) -> HttpResponse:
    """Unfreeze a pool without judgments: delete it, and show the planner with its settings."""
    task, number, choice = pool.task, pool.number, choice_of(pool)
    with told(request):
        discard_pool(pool=pool, by=signed_in(request))
        messages.success(
            request,
            f"Pool {number} was unfrozen. Its settings are filled in here, and the audit log keeps"
            " its number and hash.",
        )
        settings = choice_data(choice, runs_to_choose(task), seed=str(choice.seed))
        address = reverse("assessment:pool-plan", args=[task.lab.slug, task.slug])
        return redirect(f"{address}?{urlencode(settings)}")
    return _to(task, number)


def settings_summary(protocol: PoolProtocol) -> str:
    """Return the settings of a pool as one line."""
    if protocol.method == "rank-by-rank":
        parts = [f"rank by rank over all runs until each topic has {protocol.size} items"]
    else:
        manual = f", manual {protocol.manual}" if protocol.manual is not None else ""
        parts = [f"primary {protocol.primary}, alternate {protocol.alternate}{manual}"]
    if protocol.visually_distinct:
        policy = protocol.instance_policy.replace("-", " ")
        parts.append(
            f"visually distinct formulas with at most {protocol.instances} instances each, "
            f"by {policy}"
        )
    parts += ["formulas shown without their documents"] * protocol.shows_formulas_alone
    if protocol.extra_depth:
        parts.append(f"depth {protocol.extra_depth} in posts relevant in Task 1")
    parts += ["answers from the topic's thread and its duplicates"] * protocol.extra_threads
    if protocol.includes_generated_answers:
        threads = "with" if protocol.shows_threads else "without"
        parts.append(f"answers of Task 3, beside posts {threads} thread links")
    parts += ["post-hoc runs"] * protocol.includes_post_hoc_runs
    return "; ".join(parts)


def _to(task: Task, number: int) -> HttpResponse:
    return redirect("assessment:pool-detail", task.lab.slug, task.slug, number)
