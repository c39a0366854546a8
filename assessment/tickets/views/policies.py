"""The page of a task's policy for items that assessors report."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from arqlab.core.models import Task
from arqlab.core.views import edited, signed_in
from arqlab.labs.permissions import organized_lab_or_404, organized_task_or_404
from arqlab.web import LAB, Pages
from assessment.tickets.forms import PolicyForm
from assessment.tickets.selectors import policy_of
from assessment.tickets.services.policies import edit_policy

pages = Pages(LAB, organized_lab_or_404, section="tickets")


@pages.form(
    "tasks/<slug:task>/tickets/policy/",
    "ticket-policy",
    access=organized_task_or_404,
    section="settings",
)
def ticket_policy(request: HttpRequest, task: Task) -> HttpResponse:
    """Show and edit what happens with each label that is not a judgment."""

    def save(form: PolicyForm) -> HttpResponse:
        fields = {name: form.cleaned_data[name] for name in ("expert", "expert_closes")}
        edit_policy(task=task, actions=form.actions, **fields, by=signed_in(request))
        messages.success(request, "Policy saved. It applies to new tickets.")
        return redirect("assessment:ticket-list", lab=task.lab.slug)

    form, response = edited(
        request,
        task,
        lambda data: PolicyForm(data, task=task, policy=policy_of(task)),
        save,
        events=task.lab.audit_events.filter(verb="ticket_policy.edit", target=task),
    )
    context, status = {"form": form}, 422 if form.errors else 200
    return response or render(request, "assessment/ticket_policy.html", context, status=status)
