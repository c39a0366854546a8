"""The paper kit of a version of the qrels."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from arqlab.core.permissions import organized_task_or_404
from assessment.models import QrelSet
from evaluation.services.paper_kits import paper_kit


@require_safe
def paper_kit_file(request: HttpRequest, lab: str, task: str, version: int) -> HttpResponse:
    """Return the archive of tables, sentences and figures about a version of the qrels."""
    found = organized_task_or_404(request.user, lab, task)
    versions = QrelSet.objects.select_related("task__lab")
    kit = paper_kit(get_object_or_404(versions, task=found, version=version))
    response = HttpResponse(kit.archive, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{kit.name}.zip"'
    return response
