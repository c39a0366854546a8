"""The page of a run's per-topic scores."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from arqlab.core.permissions import task_or_404
from evaluation.permissions import board_with_run, score_access_of
from evaluation.selectors.topics import topic_rows
from evaluation.services.ties import tie_bounds
from evaluation.views.tables import (
    chart_of,
    info_columns,
    means_of,
    measure_or_404,
    version_query,
)
from submissions.models import Run


@require_safe
def run_scores(request: HttpRequest, lab: str, task: str, run: int) -> HttpResponse:
    """Show a run's score per topic with the median and best of the runs the user can see."""
    found = task_or_404(request.user, lab, task)
    one = get_object_or_404(Run.objects.select_related("team"), task=found, pk=run)
    sight = score_access_of(request.user, found)
    shown = board_with_run(sight, one, qrels=request.GET.get("qrels", ""))
    measure = measure_or_404(shown.board, request.GET.get("measure", ""))
    peers = [row.run.key for row in shown.board.rows if row.run.counts]
    rows = topic_rows(run=one, qrel_set=shown.qrel_set, measure=measure.name, peers=peers)
    line = shown.board.row_of(one.pk)
    scores = {cell.value for cell in line.cells if not cell.measure.is_count}
    query = urlencode({"measure": measure.label, **version_query(shown)})
    context = {
        "task": found,
        "lab": found.lab,
        "run": one,
        "shown": shown,
        "sight": sight,
        "measure": measure,
        "rows": rows,
        "means": means_of(rows),
        "line": line,
        "scores_nothing": scores == {0},
        "peers": len(peers),
        "columns": info_columns(rows),
        "chart": chart_of(rows, one, measure, query=query),
        "bounds": tie_bounds(shown, one),
        "may_see_run": sight.may_see_run_of(one.team.name),
        "may_open": sight.may_open(line.run),
        "query": query,
    }
    return render(request, "evaluation/run_scores.html", context)
