"""The policy of a task: what happens with items that assessors report."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.editing import edited
from assessment.tickets.forms.policies import PolicyForm
from assessment.tickets.selectors import policy_of
from assessment.tickets.services.policies import edit_policy


@require_http_methods(["GET", "HEAD", "POST"])
def ticket_policy(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show and edit what happens with each label that is not a judgment."""
    found = organized_task_or_404(request.user, lab, task)

    def save(form: PolicyForm) -> HttpResponse:
        given = {name: form.cleaned_data[name] for name in ("expert", "expert_closes")}
        edit_policy(task=found, actions=form.actions, **given, by=signed_in(request))
        messages.success(request, "Policy saved. It applies to new tickets.")
        return redirect("assessment:ticket-list", lab=lab)

    form, answer = edited(
        request,
        found,
        lambda data: PolicyForm(data, task=found, policy=policy_of(found)),
        save,
        events=found.lab.audit_events.filter(verb="ticket_policy.edit", target=found),
    )
    context = {"lab": found.lab, "task": found, "form": form}
    status = 422 if form.errors else 200
    return answer or render(request, "assessment/ticket_policy.html", context, status=status)
