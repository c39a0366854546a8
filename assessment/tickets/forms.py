"""The forms to send tickets to an expert, and for the expert's reply."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Lab, User
from arqlab.labs.forms.people import NamedChoiceField
from assessment.assignments.selectors.grid import judging_staff
from assessment.models import Ticket
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

    def __init__(self, *args: Any, lab: Lab, tickets: QuerySet[Ticket], **kwargs: Any) -> None:
        """Offer the people who may judge in the lab, and take tickets of it."""
        super().__init__(*args, **kwargs)
        self.fields["expert"].queryset = judging_staff(lab)  # type: ignore[attr-defined]
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

    def __init__(self, *args: Any, ticket: Ticket, closes: bool, **kwargs: Any) -> None:
        """Offer the judgments of the pool's scale. Only some policies let experts close tickets."""
        super().__init__(*args, **kwargs)
        labels = ticket.judgment.instance.item.pool.label_scale.judgments
        choices = [("", "no label"), *((label.value, label.word) for label in labels)]
        self.fields["label"].choices = choices  # type: ignore[attr-defined]
        if not closes:
            del self.fields["closes"], self.fields["returns_item"]
