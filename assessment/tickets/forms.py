"""The form to answer a ticket."""

from __future__ import annotations

from django import forms

from assessment.tickets.services import LONGEST_ANSWER


class AnswerForm(forms.Form):
    """The answer to the assessor, and whether they should judge the item again."""

    answer = forms.CharField(
        label="Your answer",
        widget=forms.Textarea(attrs={"rows": 5}),
        max_length=LONGEST_ANSWER,
        help_text="The assessor sees the answer on their topics page.",
        error_messages={
            "required": "Write an answer: what the assessor should do, or what you have done."
        },
    )
    returns_item = forms.BooleanField(
        label="Return the item for another judgment",
        required=False,
        help_text="The item returns to the open items of its topic. The earlier label stays in "
        "the history but no longer counts.",
    )
