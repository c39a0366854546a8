"""The form for the policy of a task."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms

from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Task
from assessment.assignments.selectors.grid import judging_staff
from assessment.models import TicketPolicy
from assessment.tickets.forms.experts import PersonField


class PolicyForm(VersionedForm):
    """What happens with each label that is not a judgment."""

    error_fields: ClassVar = {"no-expert": "expert"}

    def __init__(self, *args: Any, task: Task, policy: TicketPolicy, **kwargs: Any) -> None:
        """Ask for each label, and for the expert."""
        super().__init__(*args, **kwargs)
        self.labels = task.protocol.labels.reports
        for label in self.labels:
            self.fields[f"label_{label.value}"] = forms.ChoiceField(
                label=label.word,
                choices=TicketPolicy.Action.choices,
                initial=policy.action_of(label.value),
            )
        self.fields["expert"] = PersonField(
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
