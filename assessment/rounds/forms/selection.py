"""The forms of sample tasks."""

from __future__ import annotations

from typing import Any

from django import forms

from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Task, User
from assessment.assignments.selectors.grid import judging_staff
from assessment.guidelines.services.entries import LONGEST_ENTRY
from assessment.models import Applicant
from assessment.rounds.forms.training import DrawnItemsForm
from assessment.rounds.services.selection import HIGHEST_SCORE


class ExpertField(forms.ModelChoiceField):
    """A person to choose, by name."""

    def label_from_instance(self, obj: Any) -> str:
        """Return the name of a person."""
        return str(obj.name)


class SampleForm(DrawnItemsForm):
    """A sample task: its items and its expert."""

    expert = ExpertField(
        User.objects.none(),
        empty_label=None,
        help_text="Judges the same samples, and scores the applicants.",
    )

    def __init__(self, *args: Any, task: Task, **kwargs: Any) -> None:
        """Offer the people who may judge in the lab."""
        super().__init__(*args, task=task, **kwargs)
        self.fields["expert"].queryset = judging_staff(task.lab)  # type: ignore[attr-defined]
        self.fields["note"].label = "Note to the applicants"
        self.fields["count"].label = "Samples per topic"
        self.fields["topics"].help_text = "ARQMath-3 had three samples."


class RatingForm(VersionedForm):
    """The score, the note and the decision about an applicant."""

    score = forms.IntegerField(
        min_value=0, max_value=HIGHEST_SCORE, required=False, help_text="From 0 to 100."
    )
    note = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=LONGEST_ENTRY,
        required=False,
        help_text="Applicants do not see score and note.",
    )
    decision = forms.ChoiceField(
        choices=Applicant.Decision.choices,
        help_text="Who is accepted becomes an assessor of the lab, and gets a notice.",
    )

    def __init__(self, *args: Any, decides: bool, **kwargs: Any) -> None:
        """Take whether the user may decide; an expert who does not organize only scores."""
        super().__init__(*args, **kwargs)
        if not decides:
            del self.fields["decision"]
