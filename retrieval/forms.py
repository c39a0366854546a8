"""Which runs are combined, and how."""

from __future__ import annotations

from typing import Any

from django import forms

from retrieval.services.systems import METHODS
from submissions.models import Run
from submissions.standings import RunQuerySet


class CombinationForm(forms.Form):
    """Two runs of a task, and the way to combine them."""

    first = forms.ModelChoiceField(Run.objects.none(), label="Run", empty_label="Choose a run")
    second = forms.ModelChoiceField(
        Run.objects.none(), label="Other run", empty_label="Choose a run"
    )
    method = forms.ChoiceField(
        label="Method", choices=[(key, method.name) for key, method in METHODS.items()]
    )

    def __init__(self, *args: Any, runs: RunQuerySet, **kwargs: Any) -> None:
        """Offer the runs of the task."""
        super().__init__(*args, **kwargs)
        for name in ("first", "second"):
            if isinstance(field := self.fields[name], forms.ModelChoiceField):
                field.queryset = runs
