"""The page that makes a round of special questions."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from arqlab.core.errors import UserError
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.qrels.selectors.drafts import host_of
from assessment.rounds.forms.questions import SpecialQuestionsForm
from assessment.rounds.services.questions import make_question_round


@require_http_methods(["GET", "HEAD", "POST"])
def questions_create(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Make a round of special questions about judged items.

    Generated answers in the pool of another task are asked about there.
    """
    found, user = organized_task_or_404(request.user, lab, task), signed_in(request)
    initial = {"seed": f"{timezone.now():%Y%m%d}"}
    form = SpecialQuestionsForm(request.POST or None, task=found, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            plan = form.question_plan
            made = make_question_round(task=found, plan=plan, by=user, at=timezone.now())
        except UserError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{made} is open. Its assessors are notified.")
            return redirect("evaluation:questions-detail", lab, task, made.number)
    context = {"task": found, "lab": found.lab, "form": form, "host": host_of(found)}
    status = 422 if form.errors else 200
    return render(request, "assessment/rounds/questions_create.html", context, status=status)
