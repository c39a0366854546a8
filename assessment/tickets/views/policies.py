"""The page of a task's policy for items that assessors report."""

from collections.abc import Mapping
from typing import ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Task
from arqlab.core.views import edited, signed_in
from arqlab.labs.forms.people import NamedChoiceField
from arqlab.labs.permissions import organized_lab_or_404, organized_task_or_404
from arqlab.web import LAB, Pages
from assessment.assignments.selectors.grid import judging_staff
from assessment.models import TicketPolicy
from assessment.tickets.selectors import policy_of
from assessment.tickets.services.policies import edit_policy

pages = Pages(LAB, organized_lab_or_404, section="tickets")


class PolicyForm(VersionedForm):
    """What happens with each label that is not a judgment."""

    error_fields: ClassVar = {"no-expert": "expert"}

    def __init__(
        self, data: Mapping[str, object] | None = None, *, task: Task, policy: TicketPolicy
    ) -> None:
        super().__init__(data)
        self.labels = task.protocol.labels.reports
        for label in self.labels:
            self.fields[f"label_{label.value}"] = forms.ChoiceField(
                label=label.word,
                choices=TicketPolicy.Action.choices,
                initial=policy.action_of(label.value),
            )
        self.fields["expert"] = NamedChoiceField(
            queryset=judging_staff(task.lab),
            initial=policy.expert,
            required=False,
            empty_label="nobody",
            help_text="An assessor or organizer of this lab. Items that they reported themselves "
            "wait for the organizers.",
        )
        self.fields["expert_closes"] = forms.BooleanField(
            label="The expert may answer the assessor and close the ticket",
            initial=policy.expert_closes,
            required=False,
        )

    @property
    def actions(self) -> dict[str, str]:
        """Return the chosen action by label value."""
        return {
            str(label.value): self.cleaned_data[f"label_{label.value}"] for label in self.labels
        }


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
