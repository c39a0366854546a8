"""The scores of all runs for a topic, with its labels and the relevant items that runs found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponse

from arqkit.leaderboard import BoardRun
from arqkit.measures.names import Measure
from arqlab.core.models import Task, Topic
from arqlab.labs.permissions import task_or_404
from arqlab.web import (
    LONGEST_TABLE,
    TASK,
    Chart,
    Column,
    Pages,
    Table,
    answer,
    cells,
    context_of,
    run_columns,
    task_url,
)
from assessment.qrels.views.labels import LabelShare, label_shares
from evaluation.permissions import ScoreAccess, VisibleBoard
from evaluation.selectors.boards import RunValue, Spread, spread_of, topic_values
from evaluation.services.rankings import board_topic, relevant_with_finders
from evaluation.views.charts import FEW_BARS
from evaluation.views.rankings import ITEM_COLUMNS, ListedItem, item_reader
from evaluation.views.tables import board_file_name, measure_or_404, measure_query, seen_board

pages = Pages(TASK, task_or_404, section="topics")


class Finder(NamedTuple):
    """A run that found an item, at which rank, and the page to open."""

    run: BoardRun
    order: int
    url: str


@dataclass(frozen=True)
class FoundItem(ListedItem):
    """A relevant item with the number of runs that found it, the first of them, and the rest."""

    finders: int = 0
    found_by: Sequence[Finder] = ()
    others: int = 0


FINDER_COLUMNS: tuple[Column[FoundItem], ...] = (
    Column("Runs", lambda row: row.finders, cells.COUNT, css="place"),
    Column("Found by, at rank", template="evaluation/_finders.html", css="found-by"),
)


@dataclass(frozen=True, kw_only=True)
class TopicScoresPage:
    """A topic of the board that the user sees, in one of its measures."""

    query_id: str
    topic: Topic | None
    visible: VisibleBoard
    sight: ScoreAccess
    measure: Measure


@dataclass(frozen=True, kw_only=True)
class TopicLabels:
    """The labels of a topic, and a page of its relevant items with who found them.

    - retrieved: how many relevant items runs found.
    - has_finders: whether the user may open any run.
    """

    shares: list[LabelShare]
    relevant: Table[FoundItem]
    page: Page[int]
    retrieved: int
    has_finders: bool


@pages.read("topics/<str:query_id>/scores/", "topic-scores")
def topic_scores(request: HttpRequest, task: Task, query_id: str) -> HttpResponse:
    """Show the runs of the board that the user sees, for one topic.

    Which runs found a relevant item is shown of the runs that the user may open.
    """
    sight, visible = seen_board(request, task)
    if not visible.qrel_set.qrels.filter(query_id=query_id).exists():
        raise Http404
    measure = measure_or_404(visible.board, request.GET.get("measure", ""))
    values = topic_values(visible.board, visible.qrel_set, query_id, measure)
    query = measure_query(visible, measure)
    spread = spread_of(values)

    def page(value: RunValue) -> str:
        return _url(task, value.run, sight, query_id, query)

    shown = TopicScoresPage(
        query_id=query_id,
        topic=board_topic(visible, query_id),
        visible=visible,
        sight=sight,
        measure=measure,
    )
    context = context_of(shown, _labels(request, visible, sight, query_id, query))
    tables: list[Table[Any]] = [_values_table(visible, query_id, measure, values, page)]
    if spread:
        tables.append(_spread_table(spread, measure))
    return answer(request, "evaluation/topic_scores.html", context, *tables)


def _spread_table(spread: Spread, measure: Measure) -> Table[Spread]:
    return Table[Spread](
        "spread",
        [
            Column("Runs", lambda row: row.runs, cells.COUNT),
            Column("Best", lambda row: row.best, cells.SCORE),
            Column("Median", lambda row: row.median, cells.SCORE),
            Column("Mean", lambda row: row.mean, cells.SCORE),
            Column("Worst", lambda row: row.worst, cells.SCORE),
            Column("Standard deviation", lambda row: row.deviation, cells.SCORE),
        ],
        [spread],
        caption=f"Spread of {measure.heading} over the runs that compete.",
    )


def _values_table(
    visible: VisibleBoard,
    query_id: str,
    measure: Measure,
    values: Sequence[RunValue],
    page: Callable[[RunValue], str],
) -> Table[RunValue]:
    spread = spread_of(values)
    runs = [
        {"run": value.run.label, "team": value.run.team, "value": value.value, "url": page(value)}
        for value in values[:LONGEST_TABLE]
    ]
    those = "of each run" if len(values) <= LONGEST_TABLE else f"of the best {LONGEST_TABLE} runs"
    median = spread.median if spread else None
    names: tuple[Column[RunValue], ...] = run_columns(lambda row: row.run, url=page)
    return Table[RunValue](
        "run-values",
        [*names, Column(measure.heading, lambda row: row.value, cells.SCORE, link=page)],
        values,
        chart=Chart(
            "run-values",
            {"measure": measure.heading, "median": median, "runs": runs},
            f"{measure.heading} {those} for the topic, best first, with the median",
            css="chart-middle" if len(values) <= FEW_BARS else "",
        ),
        file=board_file_name(visible.board, visible.board.qrels, query_id, measure),
    )


def _url(task: Task, run: BoardRun, sight: ScoreAccess, query_id: str, query: str) -> str:
    """Return the address of a run's ranking, or of its scores if the user may not open it."""
    if sight.may_open(run):
        return f"{task_url('evaluation:run-ranking', task, run.key, query_id)}?{query}"
    return f"{task_url('evaluation:run-scores', task, run.key)}?{query}"


def _labels(
    request: HttpRequest, visible: VisibleBoard, sight: ScoreAccess, query_id: str, query: str
) -> TopicLabels:
    runs_by_key = {row.run.key: row.run for row in visible.board.rows if sight.may_open(row.run)}
    relevant = relevant_with_finders(visible, query_id, runs=runs_by_key)
    page, listed = item_reader(request, visible, sight, query_id)(relevant.items, relevant.kind)
    finders = relevant.finders_of([row.item for row in listed])

    def found(row: ListedItem) -> FoundItem:
        count, keys, orders = finders.get(row.item, (0, [], []))
        first = [
            Finder(run, order, _url(sight.task, run, sight, query_id, query))
            for run, order in zip(map(runs_by_key.__getitem__, keys), orders, strict=True)
        ]
        return FoundItem(**vars(row), finders=count, found_by=first, others=count - len(first))

    return TopicLabels(
        shares=label_shares(relevant.judged, visible.qrel_set.label_scale),
        relevant=Table[FoundItem](
            "relevant",
            [*ITEM_COLUMNS, *(FINDER_COLUMNS if runs_by_key else ())],
            [found(row) for row in listed],
            css="ranking-table relevant-table",
        ),
        page=page,
        retrieved=relevant.retrieved["item"].n_unique(),
        has_finders=bool(runs_by_key),
    )
