"""The page of runs that look like runs of other teams, or like the qrels."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arqkit.comparison.look_alikes import PURITY, SUSPICIOUS
from arqlab.core.permissions import organized_task_or_404
from assessment.qrels.selectors.versions import qrels_named
from evaluation.services.look_alikes import look_alikes, replays

SHOWN_TOPICS = 5
"""The topics that are listed at once; the others open with a click."""


@require_safe
def look_alike_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show organizers copied runs of different teams, and runs that replay the qrels."""
    found = organized_task_or_404(request.user, lab, task)
    qrel_set = qrels_named(found)
    context = {
        "task": found,
        "lab": found.lab,
        "pairs": look_alikes(found),
        "qrel_set": qrel_set,
        "replays": replays(found),
        "shown_topics": SHOWN_TOPICS,
        "percent": {"topics": round(100 * SUSPICIOUS), "relevant": round(100 * PURITY)},
    }
    return render(request, "evaluation/look_alike_list.html", context)
