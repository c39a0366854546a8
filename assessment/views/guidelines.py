"""The pages of the instructions for assessors."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from arqlab.core.permissions import may_look_up, may_organize, task_or_404
from assessment import selectors, services


@require_safe
def guideline_detail(request: HttpRequest, lab: str, task: str, version: int) -> HttpResponse:
    """Assessors and organizers read a version of the instructions; version 0 is the text that ArqLab comes with."""
    found = task_or_404(request.user, lab, task)
    if not may_look_up(request.user, found.lab):
        raise Http404
    shown = get_object_or_404(found.guidelines.select_related("written_by"), version=version) if version else None
    context = {
        "task": found,
        "lab": found.lab,
        "guideline": shown,
        "html": services.guideline_html(selectors.guideline_text(found, shown)),
        "newest": selectors.current_guideline(found),
        "organizes": may_organize(request.user, found.lab),
    }
    return render(request, "assessment/guideline_detail.html", context)
