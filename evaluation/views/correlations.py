"""The page with the correlations of the measures of a board, and its file."""

from __future__ import annotations

from urllib.parse import urlencode

import numpy as np
import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arqkit.measures.columns import Reals
from arqkit.measures.definitions import MEASURE_KINDS
from arqlab.core.permissions import task_or_404
from arqlab.core.views.downloads import table_response
from evaluation.permissions import score_access_of, visible_board
from evaluation.services.correlations import (
    Column,
    MeasureCorrelations,
    measure_correlations,
    question_columns,
    question_rounds,
)
from evaluation.services.further_measures import with_further_measures
from evaluation.views.tables import live_query

Line = tuple[Column, list[float | None]]


@require_safe
def correlation_matrix(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show how the measures of the board that the user sees correlate, or return it as TSV."""
    found = task_or_404(request.user, lab, task)
    access, is_file = score_access_of(request.user, found), request.GET.get("format") == "tsv"
    shown = visible_board(access, qrels=request.GET.get("qrels", ""), live="live" in request.GET)
    if shown is None:
        raise Http404
    further = with_further_measures(shown, request.GET.get("also", ""), waits=is_file)
    rounds = question_rounds(found) if access.organizes else []
    result = measure_correlations(further.shown.board, question_columns(found, rounds))
    if is_file:
        name = f"{shown.board.task.replace('/', '-')}-{shown.board.qrels}-correlations.tsv"
        return table_response(_table(result), name)
    query = live_query(shown)
    context = {
        "task": found,
        "lab": found.lab,
        "shown": further.shown,
        "further": further,
        "kinds": MEASURE_KINDS,
        "kept": list(query.items()),
        "board_address": f"?{urlencode(query)}" if query else "",
        "result": result,
        "pearson": _lines(result, result.matrices.pearson),
        "kendall": _lines(result, result.matrices.kendall),
        "rounds": rounds,
    }
    return render(request, "evaluation/correlations.html", context)


def _lines(result: MeasureCorrelations, matrix: Reals) -> list[Line]:
    known = [[None if np.isnan(value) else value for value in row] for row in matrix.tolist()]
    return list(zip(result.columns, known, strict=True))


def _table(result: MeasureCorrelations) -> pl.DataFrame:
    """Return one row for each pair of measures, with empty cells for unknown coefficients."""
    found = result.matrices
    first, second = np.triu_indices(len(result.columns), 1)
    labels = [column.label for column in result.columns]
    return pl.DataFrame(
        {
            "measure": [labels[place] for place in first],
            "other": [labels[place] for place in second],
            "runs": found.runs[first, second],
            "pearson": found.pearson[first, second],
            "kendall": found.kendall[first, second],
        },
        schema_overrides={"measure": pl.String, "other": pl.String},
    ).with_columns(pl.col("pearson", "kendall").fill_nan(None))
