"""The page of runs that look like runs of other teams, or like the qrels."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arqlab.core.permissions import organized_task_or_404
from assessment.qrels.selectors.versions import qrels_named
from evaluation.selectors.pending_scores import measures_of
from evaluation.services.look_alikes import ALIKE, CUTOFFS, REPLAY, look_alikes, replays


@require_safe
def look_alike_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show organizers nearly identical runs of different teams, and runs that replay the qrels."""
    found = organized_task_or_404(request.user, lab, task)
    qrel_set = qrels_named(found)
    context = {
        "task": found,
        "lab": found.lab,
        "pairs": look_alikes(found),
        "cutoffs": CUTOFFS,
        "alike": ALIKE,
        "qrel_set": qrel_set,
        "measure": measures_of(qrel_set)[0] if qrel_set else None,
        "replays": replays(found),
        "replay": REPLAY,
    }
    return render(request, "evaluation/look_alike_list.html", context)
