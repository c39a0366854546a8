"""The paper kit of a version of the qrels."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from arqlab.core.models import Task
from arqlab.jobs.views import page_of_job, requested
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Pages
from assessment.models import QrelSet
from contrib.papers.services.kept_kits import kept_archive, kit_of
from contrib.papers.services.paper_kits import paper_kit
from evaluation.selectors.boards import release_of

pages = Pages(f"{TASK}qrels/", organized_task_or_404, section="qrels")


@pages.form("<number:version>/paper-kit/", "paper-kit-detail", shows="paper-kit", in_archive=True)
def paper_kit_detail(request: HttpRequest, task: Task, version: int) -> HttpResponse:
    """Show what the kit has; draw its figures in the background when asked to.

    With `format=zip`, return the archive: of a released leaderboard, the kept one. With `live`, the
    kit is made from the current runs, scores and agreement.
    """
    versions = QrelSet.objects.select_related("task__lab")
    qrel_set = get_object_or_404(versions, task=task, version=version)
    if request.method == "POST":
        return requested(request, "paper-kit", qrel_set.pk, task)
    released = None if "live" in request.GET else release_of(qrel_set)
    stored_kit = kit_of(qrel_set) if released else None
    kit = stored_kit or paper_kit(qrel_set, request.user, live=released is None)
    if request.GET.get("format") == "zip":
        content = kept_archive(released) if released else kit.archive()
        response = HttpResponse(content, content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{kit.name}.zip"'
        return response
    context = {"qrel_set": qrel_set, "kit": kit, "kept": stored_kit, "released": released}
    template = "papers/paper_kit_detail.html"
    return page_of_job(request, template, context, "paper-kit", qrel_set.pk)
