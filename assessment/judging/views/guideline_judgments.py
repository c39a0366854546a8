"""The labels of a task by the version of the guidelines, for review after a change."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from arqlab.core.models import Task
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.guidelines.selectors.versions import labels_of
from assessment.judging.forms import GuidelineJudgmentListForm
from assessment.judging.services.judged_list import judged_list
from assessment.judging.services.returning import return_for_judging
from assessment.qrels.selectors.drafts import task_scale


@require_http_methods(["GET", "HEAD", "POST"])
def guideline_judgment_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """List the current labels of a task with the versions that the assessors followed.

    `before` keeps those given before a version. A POST request returns the items of `judgments` to
    be judged again.
    """
    found = organized_task_or_404(request.user, lab, task)
    if request.method == "POST":
        _return(request, found)
        return redirect(request.get_full_path())
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


def _return(request: HttpRequest, task: Task) -> None:
    sent = request.POST.getlist("judgments")
    chosen = {int(one) for one in sent if one.isascii() and one.isdigit() and len(one) < 19}
    if not chosen:
        messages.error(request, "Select the labels to judge again.")
        return
    count, left = return_for_judging(task=task, judgments=chosen, by=signed_in(request))
    if count:
        words = "1 label no longer counts" if count == 1 else f"{count} labels no longer count"
        messages.success(request, f"{words}. The items are back in their topics.")
    if left:
        messages.error(
            request,
            f"{left} label{'s' * (left != 1)} not returned: the pool is closed, the label has an "
            "open ticket or no longer counts.",
        )
