"""The page of the leaderboard by the labels so far."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arqlab.core.permissions import organized_task_or_404
from evaluation.services.provisional import TOP, provisional_scores


@require_safe
def provisional_board(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the runs by the current labels; with `compute=yes`, compute missing scores first."""
    found = organized_task_or_404(request.user, lab, task)
    board = provisional_scores(found, computes=request.GET.get("compute") == "yes")
    context = {"task": found, "lab": found.lab, "provisional": board, "top": TOP}
    return render(request, "evaluation/provisional_board.html", context)
