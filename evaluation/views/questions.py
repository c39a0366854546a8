"""The results of a round of special questions."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from arqkit.formats.tables import csv_lines
from arqlab.core.permissions import organized_task_or_404
from arqlab.core.views.downloads import file_response
from assessment.models import Round
from assessment.rounds.selectors.rounds import is_unused, round_progress
from evaluation.services.questions import MEASURES, RunAnswers, round_answers


@require_safe
def questions_detail(request: HttpRequest, lab: str, task: str, number: int) -> HttpResponseBase:
    """Show the progress of a round and its results so far, or return them as CSV."""
    found = organized_task_or_404(request.user, lab, task)
    rounds = Round.objects.select_related("pool", "task__lab")
    shown = get_object_or_404(rounds, task=found, kind=Round.Kind.QUESTIONS, number=number)
    results = round_answers(shown)
    if request.GET.get("format") == "csv":
        return _as_csv(shown, results.runs)
    progress = round_progress(shown)
    context: dict[str, Any] = {
        "task": found,
        "lab": found.lab,
        "round": shown,
        "organizes": True,
        "is_unused": is_unused(shown),
        "results": results,
        "measures": MEASURES,
        "progress": progress,
        "items": sum(one.items for one in progress),
        "done": sum(one.done for one in progress),
    }
    return render(request, "evaluation/questions_detail.html", context)


def _as_csv(found: Round, rows: list[RunAnswers]) -> HttpResponseBase:
    columns: dict[str, Callable[[RunAnswers], object]] = {
        "task": attrgetter("run.task.slug"),
        "team": attrgetter("run.team.name"),
        "run": attrgetter("run.tag"),
        "baseline": attrgetter("run.is_baseline"),
        "standing": attrgetter("run.standing.key"),
        "manual": attrgetter("run.is_manual"),
        "kind": attrgetter("run.answer_kind"),
        "topics": attrgetter("means.topics"),
        **{name: _mean(place) for place, name in enumerate(MEASURES)},
        "items": attrgetter("items"),
    }
    for place, question in enumerate(found.questions):
        columns[question.key] = _share(place, "share")
        columns[f"{question.key} answers"] = _share(place, "answered")
    lines = csv_lines(columns, rows)
    return file_response(lines, f"{found.task.lab.slug}-{found.task.slug}-{found.key}.csv")


def _mean(place: int) -> Callable[[RunAnswers], object]:
    return lambda row: row.means.values[place]


def _share(place: int, name: str) -> Callable[[RunAnswers], object]:
    return lambda row: getattr(row.shares[place], name)
