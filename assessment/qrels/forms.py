"""The forms to freeze a version of the qrels, and the lists of its changes."""

from collections.abc import Mapping
from typing import Unpack

from django import forms

from arqkit.judgments.qrels import Level
from arqlab.core.forms.typed import FormOptions, field_of
from arqlab.core.models import Task
from arqlab.labs.selectors import info_values
from assessment.qrels.selectors.drafts import LabelSource
from assessment.qrels.services.versions import QrelsChoice

LEVELS = {
    Level.INSTANCES: "Formula instances, as judged",
    Level.VISUAL: "Visually distinct formulas, with the highest label of their instances",
}


class FreezeForm(forms.Form):
    """The name and contents of a version. Only formula tasks offer two levels of items."""

    name = forms.SlugField(
        label="Name",
        max_length=50,
        help_text="Letters, digits and hyphens, such as official-1. "
        "The version never changes; corrections go into a new version.",
        error_messages={
            "required": "Enter a name for the version.",
            "invalid": "Enter a name with letters, digits, hyphens and underscores only.",
            "max_length": "Enter a name of at most 50 characters.",
        },
    )
    level = forms.ChoiceField(
        label="Items", choices=[(level.value, text) for level, text in LEVELS.items()]
    )
    group = forms.ChoiceField(label="Labels", required=False)
    split = forms.ChoiceField(
        label="Topics",
        required=False,
        help_text="Topics of another split, or without one, are left out of this version.",
    )
    complete = forms.BooleanField(
        label="Complete",
        required=False,
        help_text="Measures count their items as unjudged. Official qrels leave them out.",
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        task: Task,
        **options: Unpack[FormOptions],
    ) -> None:
        """Remove the fields that have only one choice for the task."""
        super().__init__(data, **options)
        source = LabelSource(task)
        if reports := source.scale.reports:
            words = " and ".join(f"{label.value} ({label.word})" for label in reports)
            self.fields["complete"].label = f"Complete: with {words}"
        else:
            del self.fields["complete"]
        if len(source.levels) == 1:
            del self.fields["level"]
        if groups := source.groups:
            group_choices = [(group, f"Of the group {group} only") for group in groups]
            field_of(self, "group", forms.ChoiceField).choices = [
                ("", "The sum of two assessors"),
                *group_choices,
            ]
        else:
            del self.fields["group"]
        if splits := info_values(task.topics.only("info", "info_edits"), "split"):
            field_of(self, "split", forms.ChoiceField).choices = [
                ("", "All topics"),
                *((split, f"Split {split}") for split in splits),
            ]
        else:
            del self.fields["split"]

    def choice(self, *, topics: Mapping[str, str], runs: Mapping[int, str]) -> QrelsChoice:
        """Return the version to freeze, without the topics and runs that have a reason."""
        level = Level(self.cleaned_data.get("level", Level.INSTANCES))
        return QrelsChoice(**self.cleaned_data | {"level": level}, topics=topics, runs=runs)
