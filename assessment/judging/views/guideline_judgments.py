"""The labels of a task by the version of the guidelines, for review after a change."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arqlab.core.permissions import organized_task_or_404
from assessment.guidelines.selectors.versions import labels_of
from assessment.judging.forms import GuidelineJudgmentListForm
from assessment.judging.services.judged_list import judged_list
from assessment.qrels.selectors.drafts import task_scale


@require_safe
def guideline_judgment_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """List the current labels of a task with the versions that the assessors followed.

    `before` keeps those given before a version.
    """
    found = organized_task_or_404(request.user, lab, task)
    related = ("instance__item__topic", "assessor", "guideline")
    rows = labels_of(found).select_related(*related).defer("guideline__text")
    listing = GuidelineJudgmentListForm(request.GET, task=found, rows=rows)
    page = listing.page_of(rows)
    context = {
        "task": found,
        "lab": found.lab,
        "listing": listing,
        "page": page,
        "judgments": judged_list(page, lab=found.lab, scale=task_scale(found)),
    }
    return render(request, "assessment/guideline_judgment_list.html", context)
