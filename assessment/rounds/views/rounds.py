"""The list of a task's rounds."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from arqlab.core.permissions import organized_task_or_404
from assessment.models import Round
from assessment.rounds.selectors.rounds import round_rows

# The page of a round by its kind.
PAGES: dict[str, str] = {
    Round.Kind.TRAINING: "assessment:training-detail",
    Round.Kind.SAMPLE: "assessment:sample-detail",
    Round.Kind.SECOND: "evaluation:second-detail",
    Round.Kind.QUESTIONS: "evaluation:questions-detail",
}


@require_safe
def round_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the rounds of a task, with their progress."""
    found = organized_task_or_404(request.user, lab, task)
    context = {
        "task": found,
        "lab": found.lab,
        "rows": [(row, round_address(row.round)) for row in round_rows(found)],
    }
    return render(request, "assessment/rounds/round_list.html", context)


def round_address(found: Round) -> str:
    """Return the address of the page of a round, or an empty text if its kind has none."""
    name, task = PAGES.get(found.kind), found.task
    if found.kind == Round.Kind.ADJUDICATION:
        return reverse("evaluation:adjudication-list", args=[task.lab.slug, task.slug])
    return reverse(name, args=[task.lab.slug, task.slug, found.number]) if name else ""
