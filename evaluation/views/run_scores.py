"""The scores of a run by topic."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from django.http import HttpRequest, HttpResponse

from arqkit.leaderboard import BoardRow, BoardRun
from arqkit.measures.names import Measure
from arqkit.texts.html.rendering import title_text
from arqkit.topics import heading
from arqlab.core.models import Task
from arqlab.labs.selectors import TOPIC_FILTERS
from arqlab.web import TASK, Column, Pages, Table, answer, cells, task_url
from evaluation.permissions import (
    ScoreAccess,
    VisibleBoard,
    board_with_run,
    run_of_task_or_404,
    score_access_of,
)
from evaluation.selectors.boards import TopicScoreRow, topic_rows
from evaluation.services.tie_bounds import MeasureBounds, TieBounds, tie_bounds
from evaluation.views.tables import board_file_name, measure_or_404, measure_query
from submissions.models import Run

pages = Pages(TASK, run_of_task_or_404, section="runs")
TITLE = Column[TopicScoreRow](
    "Title",
    lambda row: row.topic and row.topic.title_html,
    cells.SAFE,
    name=None,
    css="topic-title",
)


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


@pages.read("runs/<number:run>/scores/", "run-scores")
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
        chart=_chart_of(rows, line.run, measure, task=run.task, query=query),
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

    infos = _info_columns(rows)
    columns = [[getattr(row, part) for row in rows] for part in ("own", "median", "best")]
    return Table[TopicScoreRow](
        "topics",
        [
            Column(
                "Topic", lambda row: row.query_id, cells.ID, is_head=True, link=page, css="nowrap"
            ),
            TITLE,
            *infos,
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


def _info_columns(rows: Sequence[TopicScoreRow]) -> list[Column[TopicScoreRow]]:
    """Return a column for each kind of topic information that a topic of the table has."""

    def info(name: str) -> Column[TopicScoreRow]:
        return Column(
            heading(name), lambda row: row.topic and row.topic.facts.get(name), css="info-column"
        )

    topics = [row.topic for row in rows if row.topic]
    return [info(name) for name in TOPIC_FILTERS if any(topic.facts.get(name) for topic in topics)]


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are there, or None without any."""
    scores = [value for value in values if value is not None]
    return fmean(scores) if scores else None


def _has_the_best(row: TopicScoreRow) -> bool:
    return row.own is not None and row.own == row.best and row.best > 0


def _chart_of(
    rows: Iterable[TopicScoreRow], run: BoardRun, measure: Measure, *, task: Task, query: str
) -> dict[str, object]:
    """Return the data of the per-topic chart, as `js/charts.js` reads it.

    A bar leads to the page of its topic, with the parameters in `query`.
    """
    return {
        "title": f"{measure.heading} of {run.tag} by topic, with the median and best of all runs",
        "measure": measure.heading,
        "run": run.label,
        "topics": [
            {
                "topic": row.query_id,
                "title": title_text(row.topic.title) if row.topic else "",
                "own": row.own,
                "median": row.median,
                "best": row.best,
                "url": f"{task_url('evaluation:topic-scores', task, row.query_id)}?{query}",
            }
            for row in rows
        ],
    }
