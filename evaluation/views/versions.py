"""The page of the effect of two versions of the qrels on the leaderboard."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arqlab.core.permissions import organized_task_or_404
from assessment.models import QrelSet
from evaluation.selectors.versions import shared_measures, version_effect


@require_safe
def qrels_effect(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the ranks and scores of all runs by two versions, by default the two newest."""
    found = organized_task_or_404(request.user, lab, task)
    qrel_sets = QrelSet.objects.filter(task=found).select_related("task__lab").order_by("-version")
    versions = {str(one.version): one for one in qrel_sets}
    context: dict[str, Any] = {"task": found, "lab": found.lab, "versions": versions.values()}
    if not versions:
        return render(request, "evaluation/qrels_effect.html", context)
    newest = list(versions)
    before = versions.get(request.GET.get("before") or newest[min(1, len(newest) - 1)])
    after = versions.get(request.GET.get("after") or newest[0])
    if before is None or after is None:
        raise Http404
    context |= {"before": before, "after": after}
    label = request.GET.get("measure", "")
    measures = [one for one in shared_measures(before, after) if label in ("", one.label)]
    if label and not measures:
        raise Http404
    if measures:
        effect = version_effect(before, after, measures[0])
        context |= {"effect": effect, "measures": list(shared_measures(before, after))}
        context["moved"] = sum(row["rise"] != 0 for row in effect.rows)
    return render(request, "evaluation/qrels_effect.html", context)
