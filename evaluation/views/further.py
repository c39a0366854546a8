"""Further boards: measures against each other, first answers, progress and provisional scores."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from arqkit.comparison.correlation import top_stability
from arqkit.judgments.qrels import JudgedTopic
from arqkit.measures.names import MEASURE_KINDS, Measure
from arqlab.core.models import Task
from arqlab.core.oddities import task_url
from arqlab.core.permissions import organized_task_or_404, task_or_404
from arqlab.web.cells import COUNT, HUNDREDTHS, SCORE, TAU, score
from arqlab.web.pages import TASK, Pages
from arqlab.web.tables import Column, Table, answer, run_columns
from evaluation.permissions import visible_board
from evaluation.selectors.boards import number_or_none
from evaluation.services.effects import draft_scores
from evaluation.services.further_measures import (
    MeasureCorrelations,
    ProgressRow,
    SystemProgress,
    first_answers,
    first_answers_access,
    measure_correlations,
    question_columns,
    question_rounds,
    system_progress,
    with_further_measures,
)
from evaluation.views.boards import board_file
from evaluation.views.tables import board_file_name, lines_context, live_query, seen_board

pages = Pages(f"{TASK}leaderboard/", task_or_404, section="leaderboard")

TOP = 5
SEED = 1

COEFFICIENTS = {
    "pearson": "Pearson’s r: 1 or −1 if one measure is a linear function of the other.",
    "kendall": "Kendall’s tau-b: 1 if both measures order the runs the same way, −1 if in reverse.",
}


class ProvisionalRun(NamedTuple):
    """A run (team and tag) with its mean, and the probability that it ends in the top five."""

    run: str
    mean: float
    probability: float


class ProvisionalBoard(NamedTuple):
    """The runs by their means over the topics of the draft, the best first.

    - topics: the progress of all topics in the pools.
    - finished: the number of topics that are fully judged.
    - same: the probability that the top five stay; None if no run has scores.
    - is_computed: whether the scores by the current labels are there.
    - as_of: the time of these labels if others have followed.
    """

    measure: Measure | None
    topics: Sequence[JudgedTopic]
    finished: int
    is_computed: bool
    as_of: datetime | None
    same: float | None
    rows: list[ProvisionalRun]


def provisional_scores(task: Task, *, computes: bool) -> ProvisionalBoard:
    """Return the leaderboard by the current labels; compute missing scores only if asked."""
    topics, measures, scores, as_of = draft_scores(task, computes=computes)
    finished = {topic.topic for topic in topics if topic.labelled == topic.total}
    is_computed = scores is not None
    board = ProvisionalBoard(
        next(iter(measures), None), topics, len(finished), is_computed, as_of, None, []
    )
    if scores is None or board.measure is None:
        return board
    main = scores.filter(pl.col("measure") == board.measure.name)
    if main.is_empty():
        return board
    wide = main.pivot("topic", index="run", values="value").sort("run")
    matrix = wide.drop("run").cast(pl.Float64).to_numpy()
    scored = wide.columns[1:]
    marks = np.array([topic in finished for topic in scored])
    waiting = {topic.topic for topic in topics} - finished - set(scored)
    stable = top_stability(matrix, marks, unscored=len(waiting), top=TOP, seed=SEED)
    means = np.nanmean(matrix, axis=1).tolist()
    rows = map(ProvisionalRun, wide["run"].to_list(), means, stable.by_run.tolist())
    ordered = sorted(rows, key=lambda row: -row.mean)
    return board._replace(same=stable.same, rows=ordered)


@pages.read("provisional/", "provisional-board", access=organized_task_or_404)
def provisional_board(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the runs by the current labels; with `compute=yes`, compute missing scores first."""
    board = provisional_scores(task, computes=request.GET.get("compute") == "yes")
    context = {"provisional": board, "top": TOP}
    tables = _provisional_table(task, board), _judged_table(board.topics)
    return answer(request, "evaluation/provisional_board.html", context, *tables)


class _NumberedRun(NamedTuple):
    number: int
    run: ProvisionalRun


def _provisional_table(task: Task, board: ProvisionalBoard) -> Table:
    measure = board.measure.heading if board.measure else "Mean"
    return Table(
        "board",
        [
            Column("No.", "number", COUNT),
            Column("Run", "run.run", is_head=True),
            Column(measure, "run.mean", SCORE),
            Column(f"In the top {TOP}", "run.probability", HUNDREDTHS),
        ],
        [_NumberedRun(number, run) for number, run in enumerate(board.rows, start=1)],
        caption=f"{measure} over the topics in the current draft of the qrels.",
        file=f"{task.lab.slug}-{task.slug}-provisional",
    )


def _judged_table(topics: Sequence[JudgedTopic]) -> Table:
    return Table(
        "judged",
        [
            Column("Topic", "topic", is_head=True),
            Column("Judged", "labelled", COUNT),
            Column("Items", "total", COUNT),
            Column("Relevant", "relevant", COUNT),
        ],
        topics,
    )


@pages.read("progress/", "progress")
def progress(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the scores of linked runs in all labs, or return them as TSV."""
    _, visible = seen_board(request, task)
    systems = system_progress(request.user, task, visible)
    context = {"visible": visible}
    file = f"progress-{task.lab.slug}-{task.slug}-{visible.qrel_set.name}"
    table = _systems_table(systems, file)
    return answer(
        request, "evaluation/progress.html", context, table, file=_long_table(systems, file)
    )


def _systems_table(systems: SystemProgress, file: str) -> Table:
    """Return a row for each system, with the cells of each task under its lab."""
    return Table(
        "systems",
        [
            *run_columns("run"),
            *(
                Column(
                    measure.heading,
                    _progress_cell(place, number),
                    over=column.task.lab.name,
                    css="num",
                )
                for place, column in enumerate(systems.tasks)
                for number, measure in enumerate(column.measures)
            ),
        ],
        systems.rows,
        file=file,
    )


def _progress_cell(place: int, number: int) -> Callable[[ProgressRow], str]:
    """Return what shows a value of a row, with a mark if the system was trained on the topics."""

    def cell(row: ProgressRow) -> str:
        run, values = row.cells[place]
        mark = mark_safe('<abbr title="Trained on these topics">†</abbr>')
        is_trained = run is not None and values[number] is not None and run.is_trained
        return format_html("{}{}", score(values[number]), mark if is_trained else "")

    return cell


def _long_table(systems: SystemProgress, file: str) -> Table:
    """Return a row for each run of a system, task and measure, for files."""
    names = ["team", "run", "standing", "task", "run_in_task", "trained", "measure", "value"]
    columns = [Column("", str(place), name=name) for place, name in enumerate(names)]
    rows = [
        (
            row.run.team,
            row.run.tag,
            row.run.standing.key,
            str(column.task),
            cell.run.tag,
            cell.run.is_trained,
            measure.name,
            value,
        )
        for row in systems.rows
        for column, cell in zip(systems.tasks, row.cells, strict=True)
        if cell.run
        for measure, value in zip(column.measures, cell.values, strict=True)
    ]
    return Table("progress", columns, rows, file=file)


@pages.read("first-answers/", "first-answers")
def first_answers_board(request: HttpRequest, task: Task) -> HttpResponse:
    """Show Task 1's runs cut to their first answers, or return them as a file."""
    access, format_ = first_answers_access(request.user, task), request.GET.get("format")
    source = visible_board(access) if access else None
    if access is None or source is None:
        raise Http404
    further = first_answers(source)
    visible = further.visible
    if format_:
        return board_file(visible, format_, name="first-answers")
    url, columns = task_url("task", access.task), further.columns
    context = lines_context(request, visible, access, further=columns, task_url=url)
    context |= {"source": access.task, "further": further}
    return render(request, "evaluation/first_answers.html", context)


@pages.read("correlations/", "correlation-matrix")
def correlation_matrix(request: HttpRequest, task: Task) -> HttpResponse:
    """Show how the measures of the board that the user sees correlate, or return it as TSV."""
    access, visible = seen_board(request, task)
    further = with_further_measures(visible, request.GET.get("also", ""), user=request.user)
    rounds = question_rounds(task) if access.organizes else []
    result = measure_correlations(further.visible.board, question_columns(task, rounds))
    query = live_query(visible)
    context = {
        "visible": further.visible,
        "further": further,
        "kinds": MEASURE_KINDS,
        "kept": list(query.items()),
        "board_address": f"?{urlencode(query)}" if query else "",
        "result": result,
        "rounds": rounds,
    }
    file = board_file_name(visible.board, visible.board.qrels, "correlations")
    tables = _matrix_table(result, "pearson", file=file), _matrix_table(result, "kendall")
    written = _correlations_file(result, file)
    return answer(request, "evaluation/correlations.html", context, *tables, file=written)


def _matrix_table(result: MeasureCorrelations, name: str, *, file: str = "") -> Table:
    matrix = getattr(result.matrices, name)
    rows = [[number_or_none(value) for value in row] for row in matrix]
    return Table(
        name,
        [
            Column("Measure", "0.heading", is_head=True),
            *(
                Column(column.heading, f"1.{place}", TAU)
                for place, column in enumerate(result.columns)
            ),
        ],
        list(zip(result.columns, rows, strict=True)),
        caption=COEFFICIENTS[name],
        css="correlation-table",
        file=file,
    )


def _correlations_file(result: MeasureCorrelations, file: str) -> Table:
    """Return one row for each pair of measures, with empty cells for unknown coefficients."""
    matrices = result.matrices
    first, second = np.triu_indices(len(result.columns), 1)
    labels = [column.label for column in result.columns]
    frame = pl.DataFrame(
        {
            "measure": [labels[place] for place in first],
            "other": [labels[place] for place in second],
            "runs": matrices.runs[first, second],
            "pearson": matrices.pearson[first, second],
            "kendall": matrices.kendall[first, second],
        },
        schema_overrides={"measure": pl.String, "other": pl.String},
    ).with_columns(pl.col("pearson", "kendall").fill_nan(None))
    columns = [Column("", name, name=name) for name in frame.columns]
    return Table("correlations", columns, frame, file=file)
