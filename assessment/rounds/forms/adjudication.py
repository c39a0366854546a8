"""The forms of the adjudication: a decision, and the request for a third opinion."""

from __future__ import annotations

from typing import Any

from django import forms

from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Task, User
from assessment.models import Judgment, PoolInstance
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.adjudication import third_assessors
from assessment.rounds.services.adjudication import LONGEST_REASON, Ruling
from assessment.tickets.forms.experts import PersonField


class RulingForm(VersionedForm):
    """The label that a meeting decided, why, and the question it answers for the guidelines."""

    label = forms.TypedChoiceField(coerce=int, error_messages={"required": "Choose a label."})
    reason = forms.CharField(
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=LONGEST_REASON,
        error_messages={"required": "Write why this label was decided."},
    )
    question = forms.CharField(
        label="Question for the guidelines",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=LONGEST_REASON,
        required=False,
        help_text="If the decision answers a question of interpretation, write it here. The "
        "question, the label and the reason are collected for the next version of the guidelines.",
    )

    def __init__(self, *args: Any, task: Task, decision: Judgment | None, **kwargs: Any) -> None:
        """Offer the labels of a task that are judgments, and begin with the current decision."""
        super().__init__(*args, **kwargs)
        self.decision = decision
        if decision:
            self.initial = {"label": decision.label, "reason": decision.reason}
        labels = [
            ("", "choose a label"),
            *((one.value, one.word) for one in task_scale(task).judgments),
        ]
        self.fields["label"].choices = labels  # type: ignore[attr-defined]

    @property
    def ruling(self) -> Ruling:
        """Return the decision, in place of the current one."""
        given, current = self.cleaned_data, self.decision
        return Ruling(given["label"], given["reason"], current.pk if current else None)


class ThirdOpinionForm(forms.Form):
    """The assessor to ask for a third opinion."""

    person = PersonField(
        User.objects.none(),
        label="Assessor",
        empty_label="choose an assessor",
        error_messages={
            "required": "Choose an assessor.",
            "invalid_choice": "This person has judged the item, or no longer judges in this lab. "
            "Choose another assessor.",
        },
    )

    def __init__(self, *args: Any, task: Task, instance: PoolInstance, **kwargs: Any) -> None:
        """Offer the assessors who have not judged the item."""
        super().__init__(*args, **kwargs)
        people = self.fields["person"]
        people.queryset = third_assessors(task, instance)  # type: ignore[attr-defined]
