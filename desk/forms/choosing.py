"""Forms to list topic candidates, and to choose topics from them."""

from __future__ import annotations

from typing import Any

from django import forms

from arqkit.texts.posts.topic_making import ALIKE, MEASURED
from arqlab.core.models import Lab, Task
from collection.selectors.candidates import highest_topic_number
from desk.forms.loads import LoadForm


class RangeField(forms.CharField):
    """A range of numbers, FROM..TO, as a pair; either end may be missing. Empty is None."""

    def __init__(self, *, label: str) -> None:
        widget = forms.TextInput(attrs={"class": "short", "placeholder": "FROM..TO"})
        super().__init__(label=label, required=False, widget=widget)

    def clean(self, value: Any) -> list[float | None] | None:
        """Return the lowest and the highest number; a single number is both."""
        text = str(super().clean(value))
        if not text:
            return None
        least, dots, most = text.partition("..")
        try:
            ends = [float(end) if end else None for end in (least, most)]
        except ValueError as error:
            raise forms.ValidationError(
                f"{text} is not a range. Enter FROM..TO, FROM.. or ..TO."
            ) from error
        return ends if dots else [ends[0], ends[0]]


class CandidatesForm(LoadForm):
    """The filters of `manage.py make_topics`."""

    which = forms.ChoiceField(
        label="Questions",
        choices=[
            ("later", "after the search window"),
            ("searched", "that are searched"),
            ("all", "all"),
        ],
    )
    first_day = forms.DateField(
        label="First day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date", "class": "short"}),
    )
    last_day = forms.DateField(
        label="Last day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date", "class": "short"}),
    )
    related = forms.BooleanField(label="Accept a related question as a duplicate", required=False)
    unlinked = forms.BooleanField(label="Include questions without a duplicate", required=False)
    alike = forms.FloatField(
        label="Similarity of equal titles",
        initial=ALIKE,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"class": "short", "step": "0.05"}),
        help_text="Questions whose titles have at least this Jaccard coefficient with a topic of "
        "this server are left out.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Add a range for each measure, between the dates and the links."""
        super().__init__(*args, **kwargs)
        for name in MEASURED:
            label = "Flesch Reading Ease" if name == "flesch" else name.capitalize()
            self.fields[name] = RangeField(label=label)
        self.order_fields(["which", "first_day", "last_day", *MEASURED])


class ChosenForm(forms.Form):
    """The chosen questions, their first number, and the tasks that get them."""

    posts = forms.MultipleChoiceField(required=False)
    file = forms.FileField(
        label="Edited list",
        required=False,
        help_text="Instead of choosing in the table: the list of candidates as CSV with the rows "
        "you keep, and optionally topic, formula_id, category, difficulty and other information.",
    )
    first = forms.IntegerField(
        label="First topic number",
        min_value=1,
        max_value=999_999,
        widget=forms.NumberInput(attrs={"class": "short"}),
    )
    questions = forms.ModelChoiceField(
        Task.objects.none(), label="Add the questions to", required=False
    )
    formulas = forms.ModelChoiceField(
        Task.objects.none(), label="Add their formulas to", required=False
    )

    def __init__(self, *args: Any, lab: Lab, candidates: list[str], **kwargs: Any) -> None:
        """Offer the candidates and the lab's tasks, and the next free number."""
        super().__init__(*args, **kwargs)
        self.fields["posts"].choices = [(post, post) for post in candidates]  # type: ignore[attr-defined]
        self.fields["first"].initial = highest_topic_number() + 1
        kinds = {
            "questions": [Task.Kind.ANSWERS, Task.Kind.GENERATED_ANSWERS],
            "formulas": [Task.Kind.FORMULAS],
        }
        for name, kind in kinds.items():
            field = self.fields[name]
            field.queryset = lab.tasks.filter(kind__in=kind)  # type: ignore[attr-defined]
            field.empty_label = "no task"  # type: ignore[attr-defined]
            field.label_from_instance = lambda task: task.name  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Check that questions and a task are chosen."""
        cleaned = super().clean() or self.cleaned_data
        if not cleaned.get("posts") and not cleaned.get("file"):
            self.add_error("posts", "Choose at least one question, or send an edited list.")
        if "download" not in self.data and not (
            cleaned.get("questions") or cleaned.get("formulas")
        ):
            self.add_error("questions", "Choose the task that gets the topics.")
        return cleaned
