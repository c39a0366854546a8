"""Tables of pools with their charts: items by topic, runs and teams of a plan, overlap of runs."""

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import floatformat
from django.utils.html import format_html

from arqlab.core.models import Task
from arqlab.web import Chart, Column, Table, cells, task_url
from assessment.pools.selectors.frozen import TopicSize
from assessment.pools.selectors.plans import PoolPlan, RunPlan, TeamPlan

HEATS = 10
KINDS = {
    "baseline-primary": "baseline, as primary",
    "baseline-alternate": "baseline, as alternate",
    "written": "answers (Task 3)",
}
POOLED_AS = cells.CellKind(lambda kind: KINDS.get(kind, kind))


def topic_sizes_table(
    task: Task, topics: Sequence[TopicSize], *, has_progress: bool
) -> Table[TopicSize]:
    """Return the topics of a pool or plan with their items, and perhaps those that are judged."""

    def link(row: TopicSize) -> str:
        return task_url("labs:topic-detail", task, row.query_id)

    judged = Column[TopicSize]("Judged", lambda row: row.done, cells.COUNT)
    return Table[TopicSize](
        "topic-sizes",
        [
            Column("Topic", lambda row: row.query_id, link=link, is_head=True),
            Column("Items", lambda row: row.items, cells.COUNT),
            Column("Labels", lambda row: row.labels, cells.COUNT),
            *([judged] if has_progress else []),
        ],
        topics,
        chart=_sizes_chart(topics),
        fold="Items per topic as a table",
    )


def _sizes_chart(topics: Sequence[TopicSize]) -> Chart | None:
    """Return the sizes of topics, largest first, or None if there is nothing to draw."""
    ordered = sorted(topics, key=lambda topic: -topic.items)
    if not ordered or not ordered[0].items:
        return None
    largest, smallest = ordered[0], ordered[-1]
    middle = median(topic.items for topic in ordered)
    rows = [
        {"topic": topic.query_id, "items": topic.items, "done": topic.done} for topic in ordered
    ]
    return Chart(
        "topic-sizes",
        {"median": middle, "topics": rows},
        f"Items by topic, largest first: from {largest.items} ({largest.query_id}) to "
        f"{smallest.items} ({smallest.query_id}), median {floatformat(middle, -1)}. The table "
        "below lists all topics.",
        css="chart-low",
        caption=format_html(
            "<span>Largest <b>{}</b> ({})</span> <span>Median <b>{}</b></span> "
            "<span>Smallest <b>{}</b> ({})</span>",
            *(intcomma(largest.items), largest.query_id, floatformat(middle, -1)),
            *(intcomma(smallest.items), smallest.query_id),
        ),
    )


def plan_tables(task: Task, plan: PoolPlan) -> list[Table[Any]]:
    """Return the tables of a plan: its topics, runs and teams, and the overlap of its runs."""
    items: list[Column[RunPlan | TeamPlan]] = [
        Column("Items", lambda row: row.items, cells.COUNT),
        Column("Unique", lambda row: row.unique, cells.COUNT),
    ]
    return [
        topic_sizes_table(task, plan.topics, has_progress=False),
        Table[RunPlan](
            "plan-runs",
            [
                Column("Run", lambda row: row.run, is_head=True),
                Column("Pooled as", lambda row: row.kind, POOLED_AS),
                Column("Depth", lambda row: row.depth, cells.COUNT),
                *items,
                Column(
                    "Judged to",
                    lambda row: row.judged_to,
                    cells.COUNT,
                    note=lambda run: "or more" if run.is_fully_judged else "",
                ),
            ],
            plan.runs,
            caption="Unique: items that no other run contributes. Judged to: down to this rank, "
            "every item of the run is judged in every topic.",
        ),
        Table[TeamPlan](
            "plan-teams", [Column("Team", lambda row: row.team, is_head=True), *items], plan.teams
        ),
        _overlap_table(plan.runs),
    ]


class _NumberedRun(NamedTuple):
    number: int
    run: RunPlan


def _overlap_table(runs: Sequence[RunPlan]) -> Table[_NumberedRun]:
    """Return the % of the items of each run that each run also retrieved, as a heat map too.

    Of many runs, those are compared that contribute the fewest unique items.
    """
    every, runs = len(runs), [run for run in runs if run.shared]
    those = "" if len(runs) == every else f" for the {len(runs)} runs with the fewest unique items"
    numbered = [_NumberedRun(*it) for it in enumerate(runs, start=1)]
    size = "is-large" if len(runs) > 24 else "is-middle" if len(runs) > 10 else ""
    return Table[_NumberedRun](
        "plan-overlap",
        [
            Column(
                "Run",
                lambda row: format_html(
                    '<span class="muted">{}</span> {}', row.number, row.run.run
                ),
                is_head=True,
            ),
            *(_overlap_column(*run) for run in numbered),
        ],
        numbered,
        caption=f"% of the row run's items that the column run also retrieved{those}.",
        css="overlap",
        fold="Overlap as a table",
        chart=Chart(
            "run-overlap",
            {
                "runs": [str(run.run) for run in runs],
                "percents": [[_percent(run, place) for place in range(len(runs))] for run in runs],
            },
            f"Overlap of runs as a heat map{those}. The table below lists all percentages.",
            css=f"overlap-chart {size}",
            caption="The stronger the colour, the more of the row run's items the column run also "
            "retrieved. The runs are numbered as in the table below.",
        ),
    )


def _overlap_column(number: int, run: RunPlan) -> Column[_NumberedRun]:
    return Column(
        str(number),
        lambda row: _percent(row.run, number - 1),
        cells.COUNT,
        title=str(run.run),
        cell_css=lambda row: f"heat-{(_percent(row.run, number - 1) or 0) * HEATS // 100}",
    )


def _percent(run: RunPlan, place: int) -> int | None:
    """Return the % of a run's items that the run at a place also retrieved."""
    return round(100 * run.shared[place] / run.items) if run.items else None
