"""The lists of judgments: of an assessor, and by version of the guidelines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet

from arqlab.core.forms.lists import ListForm
from arqlab.core.models import Lab
from assessment.judging.services.judged_list import judgments_with
from assessment.judging.services.late_labels import LONGEST_REASON
from assessment.models import Judgment, LateLabel


class JudgmentListForm(ListForm):
    """An assessor's own judgments of a topic. The search reads what the assessor saw."""

    filters: ClassVar = {}
    orders: ClassVar = {
        "position": "instance__item__position",
        "label": "label",
        "seconds": "active_ms",
        "judged": "judged_at",
    }
    default_order = "-judged"

    def __init__(self, data: Mapping[str, Any], *, lab: Lab) -> None:
        """Read the query string; `lab` has the texts."""
        self.lab = lab
        super().__init__(data)

    def matching(self, rows: QuerySet[Judgment], words: Iterable[str]) -> QuerySet[Judgment]:
        """Return the judgments with all words in heading, text, comment or reason."""
        return rows.filter(pk__in=judgments_with(words, rows, lab=self.lab))


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
