"""The lists of judgments: of an assessor, and by version of the guidelines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet

from arqlab.core.forms.lists import ListForm
from arqlab.core.models import Lab, Task
from assessment.guidelines.selectors.versions import current_guideline, version_of
from assessment.judging.services.judged_list import judgments_with
from assessment.judging.services.late_labels import LONGEST_REASON
from assessment.models import Judgment, LateLabel
from assessment.qrels.selectors.drafts import task_scale


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


class GuidelineJudgmentListForm(ListForm):
    """The labels of a task by the version of the guidelines that their assessors followed."""

    searched = ("comment", "reason", "instance__doc_id", "instance__item__item")
    filters: ClassVar = {
        "before": ("Before version", "version__lt"),
        "version": ("Version", "version"),
        "label": ("Label", "label"),
        "topic": ("Topic", "instance__item__topic__query_id"),
        "assessor": ("Assessor", "assessor__username"),
    }
    orders: ClassVar = {
        "topic": "instance__item__topic__position",
        "label": "label",
        "version": "version",
        "assessor": "assessor__username",
        "judged": "judged_at",
    }
    default_order = "-judged"

    def __init__(self, data: Mapping[str, Any], *, task: Task, rows: QuerySet[Judgment]) -> None:
        """Offer the versions, labels and topics of a task, and the assessors of `rows`."""
        versions = range(version_of(current_guideline(task)) + 1)
        names = rows.order_by().values_list("assessor__username", flat=True).distinct()
        topics = task.topics.order_by("position").values_list("query_id", flat=True)
        super().__init__(
            data,
            before=[(str(number), str(number)) for number in versions[1:]],
            version=[(str(number), str(number)) for number in versions],
            label=[(str(label.value), label.word) for label in task_scale(task)],
            topic=[(topic, topic) for topic in topics],
            assessor=[(name, name) for name in sorted(filter(None, names))],
        )


class LateLabelListForm(ListForm):
    """The late labels of a task."""

    searched = (
        "judgment__instance__doc_id",
        "judgment__instance__item__topic__query_id",
        "judgment__comment",
        "reason",
    )
    filters: ClassVar = {
        "decision": ("Decision", "decision"),
        "assessor": ("Assessor", "judgment__assessor__username"),
    }
    orders: ClassVar = {
        "topic": "judgment__instance__item__topic__position",
        "assessor": "judgment__assessor__username",
        "arrived": "judgment__judged_at",
    }
    default_order = "-arrived"

    def __init__(self, data: Mapping[str, Any], *, rows: QuerySet[LateLabel]) -> None:
        """Offer the decisions, and the assessors of `rows`."""
        names = rows.order_by().values_list("judgment__assessor__username", flat=True).distinct()
        super().__init__(
            data,
            decision=LateLabel.Decision.choices,
            assessor=[(name, name) for name in sorted(filter(None, names))],
        )


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
