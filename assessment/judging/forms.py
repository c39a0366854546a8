"""The lists of judgments: of an assessor, and by version of the guidelines."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from assessment.judging.services.late_labels import LONGEST_REASON
from assessment.models import LateLabel


class LateDecisionForm(forms.Form):
    """What happens with the selected late labels, and why."""

    labels = forms.TypedMultipleChoiceField(
        coerce=int, error_messages={"required": "Select the labels to keep or to exclude."}
    )
    decision = forms.ChoiceField(
        choices=[
            (one.value, one.label) for one in (LateLabel.Decision.KEPT, LateLabel.Decision.EXCLUDED)
        ]
    )
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="The assessors read it.",
        error_messages={"required": "Write why you keep or exclude the labels."},
    )

    def __init__(self, *args: Any, rows: QuerySet[LateLabel], **kwargs: Any) -> None:
        """Offer the undecided labels among `rows`."""
        super().__init__(*args, **kwargs)
        undecided = rows.filter(decision=LateLabel.Decision.OPEN).values_list("pk", flat=True)
        self.fields["labels"].choices = [(pk, str(pk)) for pk in undecided]  # type: ignore[attr-defined]
