"""The pages that close a task for submissions, and open it again."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.core.views import signed_in, told
from arqlab.labs.oddities import Ceremony
from arqlab.labs.permissions import organized_task_or_404
from arqlab.labs.services.labs import close_task, reopen_task
from arqlab.web import TASK, Pages, context_of, url_of
from submissions.models import Run
from submissions.oddities import closing_oddities

pages = Pages(TASK, organized_task_or_404)


@dataclass(frozen=True)
class ClosePage:
    """The checks before a task is closed, why it cannot be, and the number of its valid runs."""

    ceremony: Ceremony
    refusals: list[str]
    is_closed: bool
    runs: int


@pages.form("close/", "task-close", shows="task-close")
def task_close(request: HttpRequest, task: Task) -> HttpResponse:
    """List what is odd about closing a task, and close it for submission."""
    at = timezone.now()
    ceremony, refusals = Ceremony(closing_oddities(task, at=at)), []
    is_closed = task.state(at) == "closed"
    if request.method == "POST":
        try:
            if not is_closed:
                ceremony.require_acknowledged(request.POST)
            close_task(task=task, by=signed_in(request), at=at)
            messages.success(request, "The task is closed. Teams can no longer submit runs.")
            return redirect(url_of("task", task.lab.slug, task.slug))
        except UserError as refused:
            refusals = [refused.message]
    runs = Run.objects.valid().filter(task=task).count()
    context = context_of(ClosePage(ceremony, refusals, is_closed, runs))
    status = 422 if refusals else 200
    return render(request, "submissions/task_close.html", context, status=status)


@pages.action("reopen/", "task-reopen")
def task_reopen(request: HttpRequest, task: Task) -> HttpResponse:
    """Reopen a task that an organizer closed."""
    at = timezone.now()
    with told(request):
        reopened = reopen_task(task=task, by=signed_in(request))
        if reopened.state(at) == "closed":
            messages.warning(
                request, "The deadline has passed, so the task stays closed. Set a later deadline."
            )
        else:
            messages.success(request, "The task is open again.")
    return redirect(url_of("task", task.lab.slug, task.slug))
