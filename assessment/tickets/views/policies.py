"""The policy of a task: what happens with items that assessors report."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from arqlab.core.errors import UserError
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.tickets.forms.policies import PolicyForm
from assessment.tickets.selectors import policy_of
from assessment.tickets.services.policies import edit_policy


@require_http_methods(["GET", "HEAD", "POST"])
def ticket_policy(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show and edit what happens with each label that is not a judgment."""
    found = organized_task_or_404(request.user, lab, task)
    given = request.POST if request.method == "POST" else None
    form = PolicyForm(given, task=found, policy=policy_of(found))
    if form.is_valid():
        try:
            edit_policy(
                task=found,
                actions=form.actions,
                expert=form.cleaned_data["expert"],
                expert_closes=form.cleaned_data["expert_closes"],
                by=signed_in(request),
            )
        except UserError as error:
            form.add_error("expert" if error.code == "no-expert" else None, error.message)
        else:
            messages.success(request, "Policy saved. It applies to new tickets.")
            return redirect("assessment:ticket-list", lab=lab)
    context = {"lab": found.lab, "task": found, "form": form}
    status = 422 if form.errors else 200
    return render(request, "assessment/ticket_policy.html", context, status=status)
