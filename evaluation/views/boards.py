"""The leaderboard page of a task and its downloads."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from arqlab.core.permissions import task_or_404
from arqlab.formats.leaderboards import CONTENT_TYPES, FILE_ENDINGS, write_board
from arqlab.ir.leaderboard import columns_in
from assessment.models import QrelSet
from evaluation.permissions import ScoreAccess, VisibleBoard, score_access_of, visible_board
from evaluation.selectors.pending_scores import unscored_runs
from evaluation.views.charts import spread_context
from evaluation.views.tables import board_lines
from submissions.models import Run


@require_safe
def leaderboard(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the leaderboard as the user can see it, or return it as a file.

    Without a leaderboard, the page explains why.
    """
    found = task_or_404(request.user, lab, task)
    sight = score_access_of(request.user, found)
    shown = visible_board(sight, qrels=request.GET.get("qrels", ""), live="live" in request.GET)
    if format_ := request.GET.get("format"):
        return _file(shown, format_)
    sort = request.GET.get("sort", "")
    context = {
        "task": found,
        "lab": found.lab,
        "sight": sight,
        "shown": shown,
        "columns": columns_in("page"),
        "lines": board_lines(shown, sight, sort=sort) if shown else (),
        "sort": sort,
        "unscored": _unscored(shown, sight) if shown else (),
        "versions": QrelSet.objects.filter(task=found) if sight.organizes else (),
        "history": found.leaderboards.select_related("qrel_set", "released_by")
        if sight.organizes
        else (),
    }
    if shown and shown.board.rows:
        context |= spread_context(shown, sight, request.GET.get("chart", ""))
        context["kept"] = {name: text for name, text in request.GET.items() if name != "chart"}
    return render(request, "evaluation/leaderboard.html", context)


@require_safe
def score_link(request: HttpRequest, lab: str, task: str, run: int, measure: str) -> HttpResponse:
    """Lead from a cell of the leaderboard to the run's scores by topic, which check permissions."""
    query = request.GET.dict() | {"measure": measure}
    return redirect(reverse("evaluation:run-scores", args=[lab, task, run], query=query))


def _file(shown: VisibleBoard | None, format_: str) -> HttpResponse:
    if shown is None or format_ not in CONTENT_TYPES:
        raise Http404
    response = HttpResponse(write_board(shown.board, format_), content_type=CONTENT_TYPES[format_])
    name = f"{shown.board.task.replace('/', '-')}-{shown.board.qrels}.{FILE_ENDINGS[format_]}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _unscored(shown: VisibleBoard, sight: ScoreAccess) -> list[tuple[Run, str]]:
    """Return the valid runs missing from the leaderboard, with the reasons."""
    if shown.state == "released":
        return []
    runs = unscored_runs(shown.qrel_set, [row.run.key for row in shown.board.rows])
    return [(run, reason) for run, reason in runs if sight.may_see_run_of(run.team.name)]
