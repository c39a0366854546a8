"""The scores of a run by topic, and of all runs for a topic with the labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import polars as pl
from django.http import Http404, HttpRequest, HttpResponse

from arqkit.leaderboard import BoardRow, BoardRun
from arqkit.measures.names import Measure
from arqkit.measures.scoring import has_tie_bounds, means, tie_orders
from arqkit.records import ItemKind
from arqkit.topics import heading
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Task
from arqlab.labs.permissions import task_or_404
from arqlab.labs.selectors import TOPIC_FILTERS
from arqlab.web import (
    LONGEST_TABLE,
    TASK,
    Chart,
    Column,
    Pages,
    Table,
    answer,
    cells,
    run_columns,
    task_url,
)
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame, version_topics
from assessment.qrels.views.labels import label_shares
from evaluation.permissions import (
    ScoreAccess,
    VisibleBoard,
    board_with_run,
    run_of_task_or_404,
    score_access_of,
)
from evaluation.selectors.boards import (
    RunValue,
    Spread,
    TopicScoreRow,
    spread_of,
    topic_rows,
    topic_values,
)
from evaluation.selectors.pending_scores import item_facts, qrels_rules
from evaluation.selectors.records import board_topics, with_recorded_answers
from evaluation.services.rankings import relevant_found, relevant_items
from evaluation.services.scoring import comparable_indexes, scorer_of, scoring_work
from evaluation.views.rankings import ITEM_COLUMNS, ListedItem, item_reader
from evaluation.views.tables import (
    FEW_BARS,
    board_file_name,
    chart_of,
    measure_or_404,
    measure_query,
    seen_board,
)
from submissions.models import Run

pages = Pages(TASK, task_or_404, section="runs")
TITLE = Column[TopicScoreRow](
    "Title",
    lambda row: row.topic and row.topic.title_html,
    cells.SAFE,
    name=None,
    css="topic-title",
)

FEW_FINDERS = 10
"""The most runs that the page names for an item."""


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


class MeasureBounds(NamedTuple):
    """The worst, the reported and the best mean of a measure."""

    heading: str
    worst: float
    reported: float
    best: float


FINDER_COLUMNS: tuple[Column[FoundItem], ...] = (
    Column("Runs", lambda row: row.finders, cells.COUNT, css="place"),
    Column("Found by, at rank", template="evaluation/_finders.html", css="found-by"),
)


class TieBounds(NamedTuple):
    """The means of a run if its tied items were in another order.

    - items, topics: the number of tied items in topics of the qrels, and of topics with any.
    - means: the bounds of each measure.
    """

    items: int
    topics: int
    means: list[MeasureBounds]


def tie_bounds(visible: VisibleBoard, run: Run) -> TieBounds | None:
    """Return the bounds of a run's scores on a board; None without ties, or if labels are hidden.

    Bounds depend on the labels of single items, so only those who may see the labels see them.
    """
    measures = [measure for measure in visible.board.measures if has_tie_bounds(measure)]
    if not measures:
        return None
    qrel_set, names = visible.qrel_set, [measure.name for measure in measures]
    key = key_of("tie-bounds", qrels_rules(qrel_set), names, item_facts([run], qrel_set))
    bounds = cached_value(
        key, lambda: _bounds(run, qrel_set, measures), work=scoring_work([run], times=3)
    )
    return bounds if bounds and bounds.items else None


def _bounds(run: Run, qrel_set: QrelSet, measures: Sequence[Measure]) -> TieBounds | None:
    """Return the bounds, or None if the index of the run cannot be read."""
    judged = judged_frame(qrel_set)
    indexes = [index for _, index in comparable_indexes([run], qrel_set, judged, scores=True)]
    if not indexes:
        return None
    orders = tie_orders(indexes[0], judged, by=qrel_set.task.protocol.order)
    if not orders.items:
        return TieBounds(0, 0, [])
    scorer = scorer_of(qrel_set, judged, measures)
    worst, reported, best = (
        means(scorer.score(index)) for index in (orders.worst, indexes[0], orders.best)
    )
    rows = [
        MeasureBounds(
            measure.heading, worst[measure.name], reported[measure.name], best[measure.name]
        )
        for measure in measures
        if measure.name in reported
    ]
    return TieBounds(orders.items, orders.topics, rows)


@dataclass(frozen=True, kw_only=True)
class RunScoresPage:
    """A run's line of the board that the user sees, and the chart of its scores by topic.

    `peers` is the number of runs that count, and `bounds` those of tied items.
    """

    run: Run
    visible: VisibleBoard
    sight: ScoreAccess
    measure: Measure
    line: BoardRow
    scores_nothing: bool
    peers: int
    chart: dict[str, Any]
    bounds: TieBounds | None
    may_see_run: bool


@pages.read("runs/<number:run>/scores/", "run-scores", access=run_of_task_or_404)
def run_scores(request: HttpRequest, run: Run) -> HttpResponse:
    """Show a run's score per topic with the median and best of the runs the user can see."""
    sight = score_access_of(request.user, run.task)
    visible = board_with_run(sight, run, qrels=request.GET.get("qrels", ""))
    measure = measure_or_404(visible.board, request.GET.get("measure", ""))
    rows = topic_rows(visible.board, run=run.pk, qrel_set=visible.qrel_set, measure=measure.name)
    line = visible.board.row_of(run.pk)
    scores = {cell.value for cell in line.cells if not cell.measure.is_count}
    query = measure_query(visible, measure)
    page = RunScoresPage(
        run=run,
        visible=visible,
        sight=sight,
        measure=measure,
        line=line,
        scores_nothing=scores == {0},
        peers=sum(row.run.counts for row in visible.board.rows),
        chart=chart_of(rows, line.run, measure, task=run.task, query=query),
        bounds=(bounds := tie_bounds(visible, run)),
        may_see_run=sight.may_see_run(run.pk),
    )
    tables: list[Table[Any]] = [
        _topics_table(run, visible, measure, rows, query, opens=sight.may_open(line.run))
    ]
    if bounds:
        tables.append(_bounds_table(bounds))
    return answer(request, "evaluation/run_scores.html", vars(page), *tables)


def _bounds_table(bounds: TieBounds) -> Table[MeasureBounds]:
    return Table[MeasureBounds](
        "tie-bounds",
        [
            Column("Measure", lambda row: row.heading, is_head=True),
            Column("Worst case", lambda row: row.worst, cells.SCORE),
            Column("Reported", lambda row: row.reported, cells.SCORE),
            Column("Best case", lambda row: row.best, cells.SCORE),
        ],
        bounds.means,
        caption="The means if tied items were in the worst and in the best order by label. "
        "Reported scores order ties by id, as trec_eval 9.0.4 does.",
    )


def _topics_table(
    run: Run,
    visible: VisibleBoard,
    measure: Measure,
    rows: Sequence[TopicScoreRow],
    query: str,
    *,
    opens: bool,
) -> Table[TopicScoreRow]:
    """Return the scores of a run by topic; without `opens`, they lead to no rankings."""

    def page(row: TopicScoreRow) -> str:
        return f"{task_url('evaluation:topic-scores', run.task, row.query_id)}?{query}"

    def ranking(row: TopicScoreRow) -> str:
        return f"{task_url('evaluation:run-ranking', run.task, run.pk, row.query_id)}?{query}"

    def info(name: str) -> Column[TopicScoreRow]:
        return Column(
            heading(name), lambda row: row.topic and row.topic.facts.get(name), css="info-column"
        )

    infos = [n for n in TOPIC_FILTERS if any(row.topic and row.topic.facts.get(n) for row in rows)]
    columns = [[getattr(row, part) for row in rows] for part in ("own", "median", "best")]
    return Table[TopicScoreRow](
        "topics",
        [
            Column(
                "Topic", lambda row: row.query_id, cells.ID, is_head=True, link=page, css="nowrap"
            ),
            TITLE,
            *map(info, infos),
            Column(
                measure.heading,
                lambda row: row.own,
                cells.SCORE,
                link=ranking if opens else None,
                best=_has_the_best,
            ),
            Column("Median", lambda row: row.median, cells.SCORE),
            Column("Best", lambda row: row.best, cells.SCORE),
            Column(
                "± median", lambda row: row.gain, cells.SIGNED, title="Difference from the median"
            ),
            Column("Judged", lambda row: row.judgments.judged, cells.COUNT),
            Column("Relevant", lambda row: row.judgments.relevant, cells.COUNT),
        ],
        rows,
        foot=[["Mean", "", *("" for _ in infos), *map(_mean, columns), "", "", ""]],
        css="topic-table",
        file=board_file_name(visible.board, visible.board.qrels, run.pk, measure),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are there, or None without any."""
    scores = [value for value in values if value is not None]
    return fmean(scores) if scores else None


def _has_the_best(row: TopicScoreRow) -> bool:
    return row.own is not None and row.own == row.best and row.best > 0


@pages.read("topics/<str:query_id>/scores/", "topic-scores", section="topics")
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

    context = {
        "query_id": query_id,
        "topic": board_topics(task, visible.board.release).get(query_id),
        "visible": visible,
        "sight": sight,
        "measure": measure,
        **_labels(request, visible, sight, query_id, query),
    }
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
) -> dict[str, Any]:
    """Return the labels of the topic, and a page of its relevant items with who found them."""
    judged = version_topics(visible.qrel_set, query_id=query_id)
    items = relevant_items(visible.qrel_set, query_id)
    runs_by_key = {row.run.key: row.run for row in visible.board.rows if sight.may_open(row.run)}
    visible_runs = Run.objects.filter(pk__in=runs_by_key).order_by("pk")
    runs = with_recorded_answers(visible_runs, visible.qrel_set, visible.board.release)
    retrieved = relevant_found(runs, qrel_set=visible.qrel_set, query_id=query_id)
    kind = ItemKind(visible.qrel_set.items)
    page, listed = item_reader(request, visible, sight, query_id)(items, kind)
    finders = _finders(retrieved, [row.item for row in listed])

    def found(row: ListedItem) -> FoundItem:
        count, keys, orders = finders.get(row.item, (0, [], []))
        first = [
            Finder(run, order, _url(sight.task, run, sight, query_id, query))
            for run, order in zip(map(runs_by_key.__getitem__, keys), orders, strict=True)
        ]
        return FoundItem(**vars(row), finders=count, found_by=first, others=count - len(first))

    return {
        "shares": label_shares(judged, visible.qrel_set.label_scale),
        "relevant": Table[FoundItem](
            "relevant",
            [*ITEM_COLUMNS, *(FINDER_COLUMNS if runs_by_key else ())],
            [found(row) for row in listed],
            css="ranking-table relevant-table",
        ),
        "page": page,
        "retrieved": retrieved["item"].n_unique(),
        "has_finders": bool(runs_by_key),
    }


def _finders(
    retrieved: pl.DataFrame, items: Sequence[str]
) -> dict[str, tuple[int, list[int], list[int]]]:
    """Return for each of some items how many runs found it, and the first of them with its rank."""
    here = retrieved.filter(pl.col("item").is_in(items)).sort("order", "run")
    first = here.group_by("item").agg(pl.len(), pl.col("run", "order").head(FEW_FINDERS))
    return {item: (count, runs, orders) for item, count, runs, orders in first.iter_rows()}
