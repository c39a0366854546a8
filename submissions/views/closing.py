"""The page that closes a task for submission, and its undo."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arqlab.core.errors import UserError
from arqlab.core.oddities import CHANGED, oddities_digest
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.services.labs import close_task, reopen_task
from submissions.models import Run
from submissions.oddities import closing_oddities


@require_http_methods(["GET", "HEAD", "POST"])
def task_close(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """List what is odd about closing a task, and close it for submission."""
    found, at = organized_task_or_404(request.user, lab, task), timezone.now()
    oddities = closing_oddities(found, at=at)
    digest, refusals = oddities_digest(oddities), []
    if request.method == "POST":
        try:
            if request.POST.get("seen") == digest or found.state(at) == "closed":
                close_task(task=found, by=signed_in(request), at=at)
                messages.success(request, "The task is closed. Teams can no longer submit runs.")
                return redirect("desk:task-detail", lab, task)
            refusals = [CHANGED]
        except UserError as refused:
            messages.error(request, refused.message)
            return redirect("desk:task-detail", lab, task)
    context = {"task": found, "lab": found.lab, "oddities": oddities, "digest": digest}
    context |= {"refusals": refusals, "state": found.state(at)}
    context["runs"] = Run.objects.valid().filter(task=found).count()
    status = 422 if refusals else 200
    return render(request, "submissions/task_close.html", context, status=status)


@require_POST
def task_reopen(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Reopen a task that an organizer closed."""
    found, at = organized_task_or_404(request.user, lab, task), timezone.now()
    try:
        reopened = reopen_task(task=found, by=signed_in(request))
    except UserError as refused:
        messages.error(request, refused.message)
    else:
        if reopened.state(at) == "closed":
            messages.warning(
                request, "The deadline has passed, so the task stays closed. Set a later deadline."
            )
        else:
            messages.success(request, "The task is open again.")
    return redirect("desk:task-detail", lab, task)
