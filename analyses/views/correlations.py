"""The correlations of the measures of a board."""

from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
import polars as pl
from django.http import HttpRequest, HttpResponse

from analyses.services.correlations import (
    MeasureColumn,
    MeasureCorrelations,
    measure_correlations,
    question_columns,
    question_rounds,
)
from arqkit.measures.names import MEASURE_KINDS
from arqlab.core.models import Task
from arqlab.labs.permissions import task_or_404
from arqlab.web import TASK, Column, Pages, Table, answer, cells, frame_table
from evaluation.selectors.boards import number_or_none
from evaluation.services.further_measures import with_further_measures
from evaluation.views.tables import board_file_name, live_query, seen_board

pages = Pages(f"{TASK}leaderboard/", task_or_404, section="leaderboard")
COEFFICIENTS = {
    "pearson": "Pearson’s r: 1 or −1 if one measure is a linear function of the other.",
    "kendall": "Kendall’s tau-b: 1 if both measures order the runs the same way, −1 if in reverse.",
}


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
    return answer(request, "analyses/correlations.html", context, *tables, file=written)


class _MatrixRow(NamedTuple):
    column: MeasureColumn
    values: list[float | None]


def _matrix_table(result: MeasureCorrelations, name: str, *, file: str = "") -> Table[_MatrixRow]:
    matrix = getattr(result.matrices, name)
    rows = [[number_or_none(value) for value in row] for row in matrix]

    def column(place: int, measure: MeasureColumn) -> Column[_MatrixRow]:
        return Column(measure.heading, lambda row: row.values[place], cells.TAU)

    return Table[_MatrixRow](
        name,
        [
            Column("Measure", lambda row: row.column.heading, is_head=True),
            *(column(*measure) for measure in enumerate(result.columns)),
        ],
        [_MatrixRow(*row) for row in zip(result.columns, rows, strict=True)],
        caption=COEFFICIENTS[name],
        css="correlation-table",
        file=file,
    )


def _correlations_file(result: MeasureCorrelations, file: str) -> Table[dict[str, object]]:
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
    return frame_table("correlations", frame, file=file)
