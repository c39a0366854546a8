"""The form by which an applicant of a sample task is scored and accepted."""

from typing import Any

from django import forms

from arqlab.core.forms.versions import VersionedForm
from assessment.guidelines.services.versions import LONGEST_ENTRY
from assessment.models import Applicant
from assessment.rounds.services.rounds import HIGHEST_SCORE


class RatingForm(VersionedForm):
    """The score, the note and the decision about an applicant."""

    score = forms.IntegerField(
        min_value=0, max_value=HIGHEST_SCORE, required=False, help_text="From 0 to 100."
    )
    note = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=LONGEST_ENTRY,
        required=False,
        help_text="Applicants see neither the score nor the note.",
    )
    decision = forms.ChoiceField(
        choices=Applicant.Decision.choices,
        help_text="An accepted applicant becomes an assessor of the lab and gets a notice.",
    )

    def __init__(self, *args: Any, decides: bool, **kwargs: Any) -> None:
        """Ask for a decision only if the user may decide; an expert may only score."""
        super().__init__(*args, **kwargs)
        if not decides:
            del self.fields["decision"]
