"""The page of Task 1's runs by the measures of Task 3, and its files."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from arqkit.leaderboard import columns_in
from arqkit.measures.definitions import definition_of
from arqlab.core.permissions import task_or_404
from evaluation.permissions import visible_board
from evaluation.services.first_answers import first_answers, first_answers_access
from evaluation.views.boards import board_file
from evaluation.views.tables import board_lines


@require_safe
def first_answers_board(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show Task 1's runs cut to their first answers, or return them as a file."""
    found = task_or_404(request.user, lab, task)
    access, format_ = first_answers_access(request.user, found), request.GET.get("format")
    visible = visible_board(access) if access else None
    if access is None or visible is None:
        raise Http404
    further = first_answers(visible, waits=bool(format_))
    shown = further.shown
    if format_:
        return board_file(shown, format_, name="first-answers")
    sort = request.GET.get("sort", "")
    task_url = reverse("desk:task-detail", args=[access.task.lab.slug, access.task.slug])
    context = {
        "task": found,
        "lab": found.lab,
        "source": access.task,
        "shown": shown,
        "sight": access,
        "further": further,
        "columns": columns_in("page"),
        "lines": board_lines(shown, access, sort=sort, further=further.columns, task_url=task_url),
        "sort": sort,
        "definitions": [(one, definition_of(one)) for one in shown.board.measures],
    }
    return render(request, "evaluation/first_answers.html", context)
