"""The forms of tickets: for an expert and their reply, and the policy of a task."""

from collections.abc import Mapping
from typing import ClassVar, Unpack

from django import forms
from django.db.models import QuerySet

from arqlab.core.forms.typed import FormOptions, field_of
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Lab, Task, User
from arqlab.labs.forms.people import NamedChoiceField
from assessment.assignments.selectors.grid import judging_staff
from assessment.models import Ticket, TicketPolicy
from assessment.tickets.services.answers import LONGEST_ANSWER


class SendForm(forms.Form):
    """The expert to send tickets to, and what to ask them."""

    expert = NamedChoiceField(
        label="Expert",
        queryset=User.objects.none(),
        empty_label="Choose a person",
        error_messages={"required": "Choose the expert."},
        help_text="An assessor or organizer of this lab.",
    )
    question = forms.CharField(
        label="Your question",
        required=False,
        max_length=LONGEST_ANSWER,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        lab: Lab,
        tickets: QuerySet[Ticket],
        **options: Unpack[FormOptions],
    ) -> None:
        """Offer the people who may judge in the lab, and take tickets of it."""
        super().__init__(data, **options)
        field_of(self, "expert", NamedChoiceField).queryset = judging_staff(lab)
        self.fields["tickets"] = forms.ModelMultipleChoiceField(
            queryset=tickets, error_messages={"required": "Select the tickets to send."}
        )


class AdviceForm(VersionedForm):
    """The opinion of an expert, the label they propose, and whether they close the ticket."""

    opinion = forms.CharField(
        label="Your opinion",
        max_length=LONGEST_ANSWER,
        widget=forms.Textarea(attrs={"rows": 5}),
        error_messages={"required": "Write your opinion on the item, with the reason."},
    )
    label = forms.TypedChoiceField(
        label="Label that you propose",
        required=False,
        coerce=int,
        empty_value=None,
        help_text="The label does not count by itself. An adjudication can take it.",
    )
    closes = forms.BooleanField(
        label="Send this as the answer to the assessor and close the ticket", required=False
    )
    returns_item = forms.BooleanField(
        label="Return the item for another judgment",
        required=False,
        help_text="Only if you close the ticket.",
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        ticket: Ticket,
        closes: bool,
        **options: Unpack[FormOptions],
    ) -> None:
        """Offer the judgments of the pool's scale. Only some policies let experts close tickets."""
        super().__init__(data, **options)
        labels = ticket.judgment.instance.item.pool.label_scale.judgments
        choices = [("", "no label"), *((label.value, label.word) for label in labels)]
        field_of(self, "label", forms.TypedChoiceField).choices = choices
        if not closes:
            del self.fields["closes"], self.fields["returns_item"]


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
