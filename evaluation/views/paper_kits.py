"""The paper kit of a version of the qrels: its page, and its archive."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from arqlab.celery import wake_after_commit
from arqlab.core.permissions import organized_task_or_404
from assessment.models import QrelSet
from evaluation.services.paper_kits import paper_kit
from evaluation.tasks import draw_paper_kit


@require_http_methods(["GET", "HEAD", "POST"])
def paper_kit_detail(request: HttpRequest, lab: str, task: str, version: int) -> HttpResponse:
    """Show what the kit has; draw its figures in the background when asked to.

    With `format=zip`, return the archive, and with `part=state`, only the state of the drawing.
    """
    found = organized_task_or_404(request.user, lab, task)
    versions = QrelSet.objects.select_related("task__lab")
    shown = get_object_or_404(versions, task=found, version=version)
    is_file = request.GET.get("format") == "zip"
    kit = paper_kit(shown, request.user, waits=is_file)
    if request.method == "POST":
        if kit.claim_drawing():
            wake_after_commit(draw_paper_kit, shown.pk)
        return redirect(request.path)
    if is_file:
        response = HttpResponse(kit.archive(), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{kit.name}.zip"'
        return response
    template = "_paper_kit_state" if request.GET.get("part") == "state" else "paper_kit_detail"
    context = {"task": found, "lab": found.lab, "shown": shown, "kit": kit}
    return render(request, f"evaluation/{template}.html", context)
