"""The pool audit: what baselines, or chosen runs, rank high and nobody pools or judges."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from arqkit.pooling.pools import DEEPEST
from arqlab.core.models import Task
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import (
    LONGEST_TABLE,
    TASK,
    Column,
    Empty,
    Filter,
    Pages,
    Table,
    answer,
    cells,
    number_of,
    run_columns,
    task_url,
    to,
)
from assessment.pools.selectors.audit import (
    AUDITED_DEPTH,
    NOT_JUDGED,
    NOT_POOLED,
    MissedItem,
    PoolAudit,
    StateCounts,
    audit_pool,
)
from assessment.pools.selectors.choices import poolable_runs
from assessment.pools.views.plans import planned_labels
from submissions.models import Run

pages = Pages(f"{TASK}pools/", organized_task_or_404, section="pools")

OWN_FIELDS = ("depth", "run", "page")


@pages.read("audit/", "pool-audit")
def pool_audit(request: HttpRequest, task: Task) -> HttpResponse:
    """Show what the tops of baselines, or of the chosen runs, have that nobody pools or judges.

    The address may have the settings of a plan, whose items then count as pooled; without a pool,
    those of the task's protocol do.
    """
    query = request.GET
    depth = max(1, min(number_of(query.get("depth", "")) or AUDITED_DEPTH, DEEPEST))
    offered = poolable_runs(task, offers_controls=True)[0]
    runs = [run for run in offered if str(run.pk) in query.getlist("run")]
    runs = runs or [run for run in poolable_runs(task)[0] if run.is_baseline]
    choice, planned, refusal = planned_labels(task, query)
    audit = audit_pool(task, choice, runs, depth=depth, planned=planned)
    context = {
        "depth": depth,
        "deepest": DEEPEST,
        "offered": [r for place, r in enumerate(offered) if place < LONGEST_TABLE or r in runs],
        "every": len(offered),
        "runs": runs,
        "refusal": refusal,
        "is_plan": planned is not None,
        "kept": [(k, v) for k, v in query.items() if k not in OWN_FIELDS],
        "not_pooled": audit.count(NOT_POOLED),
        "not_judged": audit.count(NOT_JUDGED),
    }
    tables = (_items_table(request, task, audit, runs), *_totals_tables(task, audit, runs))
    return answer(request, "assessment/pool_audit.html", context, *tables)


def _items_table(
    request: HttpRequest, task: Task, audit: PoolAudit, runs: Sequence[Run]
) -> Table[MissedItem]:
    address = (task.lab.slug, task.slug)
    names = {str(run.pk): run.label for run in runs}
    return Table[MissedItem](
        "unpooled-items",
        [
            Column(
                "Topic",
                lambda row: row["topic"],
                link=to("labs:topic-detail", *address, of=lambda row: row["topic"]),
                is_head=True,
                order="topic",
                css="nowrap",
            ),
            Column("Item", lambda row: row["item"], cells.ID, link=_thread_of(task), css="wrap"),
            Column("Best rank", lambda row: row["rank"], cells.COUNT, order="rank"),
            Column(
                "Runs", lambda row: len(row["runs"]), cells.COUNT, title="Runs that rank it so high"
            ),
            Column("", lambda row: ", ".join(names[run] for run in row["runs"]), name="Ranked by"),
            Column("State", lambda row: row["state"], order="state"),
        ],
        audit.items,
        asked=request.GET,
        order="topic",
        filters=[Filter("topic", "Topic", "topic"), Filter("state", "State", "state")],
        file=f"{task.lab.slug}-{task.slug}-pool-audit",
        empty=Empty(
            "Nothing is missing",
            "All that these runs rank so high is pooled or judged."
            if runs
            else "The task has no baselines yet. Choose other runs, or make baselines.",
        ),
    )


def _thread_of(task: Task) -> Callable[[MissedItem], str]:
    """Return what makes the address of an item's thread; an answer of Task 3 has none."""
    if task.kind == Task.Kind.GENERATED_ANSWERS:
        return lambda row: ""
    is_formulas = task.kind == Task.Kind.FORMULAS

    def address(row: MissedItem) -> str:
        post = row["post"] if is_formulas else row["item"]
        page = reverse("collection:post-detail", args=[task.lab.slug, post]) if post else ""
        return f"{page}?{urlencode({'formula': row['doc_id']})}" if page and is_formulas else page

    return address


class _RunCounts(NamedTuple):
    run: Run
    counts: StateCounts


def _totals_tables(
    task: Task, audit: PoolAudit, runs: Sequence[Run]
) -> tuple[Table[_RunCounts], Table[StateCounts]]:
    by_run = {row["run"]: cast("StateCounts", row) for row in audit.totals("run").to_dicts()}
    names: tuple[Column[_RunCounts], ...] = run_columns(
        lambda row: row.run, url=lambda row: task_url("run", task, row.run.pk)
    )
    return (
        Table[_RunCounts](
            "run-totals",
            [
                *names,
                Column("Items", lambda row: row.counts["items"], cells.COUNT),
                Column("Not pooled", lambda row: row.counts["not_pooled"], cells.COUNT),
                Column("Not judged", lambda row: row.counts["not_judged"], cells.COUNT),
            ],
            [_RunCounts(run, by_run[str(run.pk)]) for run in runs if str(run.pk) in by_run],
        ),
        Table[StateCounts](
            "topic-totals",
            [
                Column(
                    "Topic",
                    lambda row: row["topic"],
                    link=lambda row: task_url("labs:topic-detail", task, row["topic"]),
                    is_head=True,
                ),
                Column("Items", lambda row: row["items"], cells.COUNT),
                Column("Not pooled", lambda row: row["not_pooled"], cells.COUNT),
                Column("Not judged", lambda row: row["not_judged"], cells.COUNT),
            ],
            audit.totals("topic"),
            fold="Topics",
        ),
    )
