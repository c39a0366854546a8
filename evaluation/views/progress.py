"""The page of progress tests: the systems of a leaderboard on the topics of other labs."""

from __future__ import annotations

import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arqlab.core.permissions import task_or_404
from arqlab.core.views.downloads import table_response
from evaluation.permissions import score_access_of, visible_board
from evaluation.services.progress import SystemProgress, system_progress


@require_safe
def progress(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the scores of linked runs in all labs, or return them as TSV."""
    found = task_or_404(request.user, lab, task)
    qrels, live = request.GET.get("qrels", ""), "live" in request.GET
    shown = visible_board(score_access_of(request.user, found), qrels=qrels, live=live)
    if shown is None:
        raise Http404
    systems = system_progress(request.user, found, shown)
    if request.GET.get("format") == "tsv":
        return table_response(_table(systems), f"progress-{lab}-{task}-{shown.qrel_set.name}.tsv")
    context = {"task": found, "lab": found.lab, "shown": shown, "systems": systems}
    return render(request, "evaluation/progress.html", context)


def _table(systems: SystemProgress) -> pl.DataFrame:
    """Return a row for each run of a system, task and measure."""
    rows = [
        (
            row.run.team,
            row.run.tag,
            row.run.standing.key,
            str(column.task),
            cell.run.tag,
            cell.run.is_trained,
            one.name,
            value,
        )
        for row in systems.rows
        for column, cell in zip(systems.tasks, row.cells, strict=True)
        if cell.run
        for one, value in zip(column.measures, cell.values, strict=True)
    ]
    names = ["team", "run", "standing", "task", "run_in_task", "trained", "measure", "value"]
    return pl.DataFrame(rows, schema=names, orient="row")
