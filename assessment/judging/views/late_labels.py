"""The organizers' list of late labels, which they keep or exclude."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from arqlab.core.models import Task
from arqlab.core.oddities import counted
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.judging.forms import LateDecisionForm, LateLabelListForm
from assessment.judging.services.late_labels import decide_late_labels
from assessment.qrels.selectors.counting import late_labels, with_labels_that_count


@require_http_methods(["GET", "HEAD", "POST"])
def late_label_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """List the late labels of a task, and keep or exclude the selected ones."""
    found = organized_task_or_404(request.user, lab, task)
    rows = late_labels(found)
    form = LateDecisionForm(request.POST if request.method == "POST" else None, rows=rows)
    if request.method == "POST" and form.is_valid():
        _decide(request, found, form)
        return redirect(request.get_full_path())
    listing = LateLabelListForm(request.GET, rows=rows)
    page = listing.page_of(with_labels_that_count(rows))
    context = {"lab": found.lab, "task": found, "form": form, "listing": listing, "page": page}
    status = 422 if form.errors else 200
    return render(request, "assessment/late_label_list.html", context, status=status)


def _decide(request: HttpRequest, task: Task, form: LateDecisionForm) -> None:
    given, by = form.cleaned_data, signed_in(request)
    decided = decide_late_labels(task=task, **given, at=timezone.now(), by=by)
    if decided.labels:
        messages.success(request, f"{counted(decided.labels, 'label')} {given['decision']}.")
    if decided.left:
        messages.error(
            request,
            f"{counted(decided.left, 'label')} left undecided: the pool is closed, or a label of "
            "another assessor counts. Exclude them, or return the items to their topics first.",
        )
