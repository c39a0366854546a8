"""The forms of time sheets: what they show, and what a lab pays."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.forms.models import model_to_dict

from arqlab.core.forms.moments import ANYWHERE
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Lab, Task
from assessment.models import PayRule
from assessment.models.kinds import KINDS, kind_choices
from assessment.timesheets.selectors.figures import OFFICIAL, USUAL_KINDS, SheetPart


def _day_field(label: str) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        error_messages={"invalid": "Enter a date such as 2026-11-23."},
    )


class SheetForm(forms.Form):
    """The part of a time sheet to show, read from the address of its page."""

    first, last = _day_field("From"), _day_field("Through")
    task = forms.ModelChoiceField(
        Task.objects.none(),
        label="Task",
        required=False,
        to_field_name="slug",
        empty_label="all tasks",
    )
    rounds = forms.ChoiceField(
        label="Rounds",
        required=False,
        choices=[
            ("", "all but sample tasks"),
            ("all", "all"),
            (OFFICIAL, "official"),
            *((key, name.lower()) for key, name in kind_choices()),
        ],
    )
    estimates = forms.BooleanField(label="Estimate missing times", required=False)

    def __init__(self, *args: Any, lab: Lab, **kwargs: Any) -> None:
        """Offer the tasks of the lab."""
        super().__init__(*args, **kwargs)
        tasks = self.fields["task"]
        tasks.queryset = lab.tasks.all()  # type: ignore[attr-defined]
        tasks.label_from_instance = lambda task: task.name  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Require days in order."""
        cleaned = super().clean() or self.cleaned_data
        first, last = cleaned.get("first"), cleaned.get("last")
        if first and last and first > last:
            self.add_error("last", "The last day is before the first. Enter a later one.")
        return cleaned

    @property
    def part(self) -> SheetPart:
        """Return the part of the sheet that the valid fields ask for."""
        first, last, task = (self.cleaned_data.get(name) for name in ("first", "last", "task"))
        rounds = self.cleaned_data.get("rounds", "")
        kinds = {"": USUAL_KINDS, "all": (OFFICIAL, *KINDS)}
        return SheetPart(first, last, task, kinds.get(rounds, (rounds,)))


class PayForm(VersionedForm):
    """The hourly rate of a lab, its currency, and the time zone of days."""

    hourly_rate = forms.DecimalField(
        label="Hourly rate",
        required=False,
        min_value=0,
        max_digits=9,
        decimal_places=2,
        widget=forms.NumberInput(attrs={"class": "short", "step": "0.01"}),
        help_text="If empty, the page shows no cost.",
    )
    currency = forms.CharField(
        label="Currency",
        required=False,
        max_length=10,
        widget=forms.TextInput(attrs={"class": "short"}),
        help_text="Such as EUR or USD.",
    )
    time_zone = forms.CharField(
        label="Time zone of days",
        max_length=64,
        help_text="UTC, AoE, or a name of the time zone database such as Europe/Prague.",
        error_messages={"required": "Enter a time zone, such as UTC."},
    )

    def __init__(self, *args: Any, rule: PayRule, **kwargs: Any) -> None:
        """Fill in what the lab pays now."""
        super().__init__(*args, **kwargs)
        self.initial = model_to_dict(rule)

    def clean_time_zone(self) -> str:
        """Return the zone's name in the time zone database."""
        name: str = self.cleaned_data["time_zone"]
        name = ANYWHERE if name.casefold() == "aoe" else name
        try:
            return ZoneInfo(name).key
        except (KeyError, ValueError, OSError) as error:
            raise forms.ValidationError(
                f"Unknown time zone {name}. Enter UTC, AoE, or a name such as Europe/Prague."
            ) from error


def zone_words(name: str) -> str:
    """Return the name of a time zone in texts for people."""
    return "anywhere on earth (AoE)" if name == ANYWHERE else name
