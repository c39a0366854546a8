"""The leaderboard page of a task, its release and its downloads."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.core.permissions import organized_task_or_404, signed_in, task_or_404
from arqlab.formats.leaderboards import CONTENT_TYPES, FILE_ENDINGS, write_board
from arqlab.ir.leaderboard import columns_in
from assessment.models import QrelSet
from evaluation.permissions import ScoreAccess, VisibleBoard, score_access_of, visible_board
from evaluation.selectors.pending_scores import unscored_runs
from evaluation.services.releasing import hide_leaderboard, release_leaderboard
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
    return render(request, "evaluation/leaderboard.html", context)


@require_POST
def leaderboard_release(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Release the leaderboard of the chosen qrels."""
    found = organized_task_or_404(request.user, lab, task)
    qrel_set = get_object_or_404(
        QrelSet.objects.select_related("task__lab"), task=found, name=request.POST.get("qrels")
    )
    try:
        board = release_leaderboard(qrel_set=qrel_set, by=signed_in(request), at=timezone.now())
    except UserError as error:
        messages.error(request, error.message)
        return _back_to_board(found, live=qrel_set)
    messages.success(
        request,
        f"Version {board.version} is released. Everyone who can see the lab can now see it.",
    )
    return _back_to_board(found)


@require_POST
def leaderboard_hide(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Hide the released leaderboard."""
    found = organized_task_or_404(request.user, lab, task)
    try:
        hide_leaderboard(task=found, by=signed_in(request), at=timezone.now())
    except UserError as error:
        messages.error(request, error.message)
    else:
        messages.success(
            request,
            "The leaderboard is hidden. Only organizers can see it until it is released again.",
        )
    return _back_to_board(found)


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


def _back_to_board(task: Task, *, live: QrelSet | None = None) -> HttpResponse:
    address = reverse("evaluation:leaderboard", args=[task.lab.slug, task.slug])
    return redirect(f"{address}?live=1&qrels={live.name}" if live else address)
