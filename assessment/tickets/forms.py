"""The organizers' answer to a ticket."""

from __future__ import annotations

from django import forms

from assessment.tickets.services import LONGEST_ANSWER


class AnswerForm(forms.Form):
    """What the assessor is told, and whether they judge the item again."""

    answer = forms.CharField(
        label="Your answer",
        widget=forms.Textarea(attrs={"rows": 5}),
        max_length=LONGEST_ANSWER,
        help_text="The assessor reads it beside their topics.",
        error_messages={"required": "Write an answer: what to do, or what was done."},
    )
    gives_back = forms.BooleanField(
        label="Give the item back to be judged again",
        required=False,
        help_text="It waits with the others of its topic. What was said stays in the history and counts no longer.",
    )
