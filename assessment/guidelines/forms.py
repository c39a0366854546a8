"""The forms to write guidelines for assessors, and to add examples and cases."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms

from arqkit.labels import LabelScale
from arqkit.records import LONGEST_ID
from arqlab.core.models import Task, Topic, User
from assessment.guidelines.services.versions import (
    LONGEST_ENTRY,
    Decision,
    add_example,
    find_entry_item,
    record_case,
)
from assessment.models import GuidelineEntry
from assessment.qrels.selectors.drafts import task_scale

LONGEST_DEFINITION = 2_000  # characters


class GuidelineForm(forms.Form):
    """A new version of the guidelines, and the version it is based on."""

    text = forms.CharField(
        label="Guidelines",
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "true", "class": "id"}),
        strip=False,
        help_text="HTML as in posts (paragraphs, lists, tables, headings), with LaTeX between "
        "dollar signs. Every version is kept, and every judgment records the version "
        "the assessor followed.",
        error_messages={"required": "The guidelines are empty. Write how assessors should judge."},
    )
    after = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=32_767)

    def __init__(self, *args: Any, scale: LabelScale, **kwargs: Any) -> None:
        """Add a field for the definition of each label."""
        super().__init__(*args, **kwargs)
        for label in scale:
            self.fields[f"label-{label.value}"] = forms.CharField(
                label=label.word,
                widget=forms.Textarea(attrs={"rows": 2}),
                max_length=LONGEST_DEFINITION,
                required=False,
            )

    @property
    def label_fields(self) -> list[forms.BoundField]:
        """Return the fields of the definitions."""
        return [field for field in self if field.name.startswith("label-")]

    @property
    def definitions(self) -> dict[str, str]:
        """Return the definitions that were entered, by the value of their label."""
        return {
            name.removeprefix("label-"): text
            for name, text in self.cleaned_data.items()
            if name.startswith("label-") and text
        }


class EntryForm(forms.Form):
    """An example or a decided case: what it is about, the label and the reason."""

    question = forms.CharField(
        label="Question of interpretation",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=LONGEST_ENTRY,
        help_text="Such as: does an answer that only restates the question count? Texts may "
        "contain LaTeX between dollar signs.",
    )
    decision = forms.CharField(
        label="Decision", widget=forms.Textarea(attrs={"rows": 2}), max_length=LONGEST_ENTRY
    )
    topic = forms.ModelChoiceField(
        Topic.objects.none(), to_field_name="query_id", required=False, empty_label="no topic"
    )
    item = forms.CharField(
        max_length=LONGEST_ID,
        help_text="The id of the item in qrels: a post, a formula or a document of the "
        "collection, or an item of a pool. Search for it above.",
    )
    label = forms.TypedChoiceField(coerce=int, empty_value=None)
    reason = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), max_length=LONGEST_ENTRY)
    place = forms.CharField(
        label="Decided in",
        max_length=200,
        required=False,
        help_text="Such as the meeting. Assessors see it, but not who decided.",
    )

    def __init__(self, *args: Any, task: Task, kind: str, **kwargs: Any) -> None:
        """Offer the topics and labels of a task; `kind` is that of the entry."""
        super().__init__(*args, **kwargs)
        self.task, self.kind = task, kind
        labels = [("", "no label"), *((label.value, label.word) for label in task_scale(task))]
        self.fields["label"].choices = labels  # type: ignore[attr-defined]
        topics = task.topics.order_by("position")
        self.fields["topic"].queryset = topics  # type: ignore[attr-defined]
        if kind == GuidelineEntry.Kind.EXAMPLE:
            for name in ("question", "decision", "place"):
                del self.fields[name]
        else:
            for name in ("item", "label", "reason"):
                self.fields[name].required = False

    def save(self, *, at: datetime, by: User) -> GuidelineEntry:
        """Collect the entry for the next version. Raise `UserError` as the services do."""
        given = self.cleaned_data
        item = find_entry_item(self.task, topic=given["topic"], item=given["item"])
        about: dict[str, Any] = {"task": self.task, "item": item, "at": at, "by": by}
        label, reason = given["label"], given["reason"]
        if self.kind == GuidelineEntry.Kind.EXAMPLE:
            return add_example(label=label, reason=reason, **about)
        decision = Decision(given["decision"], label, reason, place=given["place"])
        return record_case(question=given["question"], decision=decision, **about)
