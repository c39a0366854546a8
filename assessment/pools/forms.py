"""The settings of a pool as an organizer turns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django import forms

from arqlab.core.models import Task
from arqlab.ir.pooling.settings import DEEPEST, LARGEST_SEED, MOST_INSTANCES, OF_KIND
from arqlab.ir.protocols.presets import PoolProtocol
from arqlab.ir.records import TaskKind
from assessment.pools.selectors.choices import PoolChoice
from submissions.models import Run

BASELINE = "run_"


class DepthField(forms.IntegerField):
    """A whole number between two bounds, which the sentence of a refusal names."""

    def __init__(
        self,
        label: str,
        *,
        lowest: int = 0,
        highest: int = DEEPEST,
        required: bool = True,
        **kwargs: Any,
    ):
        sentence = (
            f"Enter a whole number from {lowest} to {highest} for {label[0].lower()}{label[1:]}."
        )
        errors = dict.fromkeys(("required", "invalid", "min_value", "max_value"), sentence)
        super().__init__(
            label=label,
            min_value=lowest,
            max_value=highest,
            required=required,
            error_messages=errors,
            **kwargs,
        )


class PoolForm(forms.Form):
    """How a pool is made: the fields of its protocol, the seed, and as what each baseline is
    pooled.
    """

    method = forms.ChoiceField(
        label="Method",
        choices=[("depth", "The top of every run"), ("rank-by-rank", "Rank by rank, until a size")],
        error_messages={
            "invalid_choice": "Choose how the pool is made: the top of every run, or rank by rank. "
            "A known item has no pool."
        },
    )
    primary = DepthField("Primary runs")
    alternate = DepthField("Alternate runs")
    manual = DepthField(
        "Manual runs",
        required=False,
        help_text="Empty: each goes by its primary or alternate mark.",
    )
    size = DepthField("Items a topic, at least")
    baselines = forms.ChoiceField(
        choices=[(value, value) for value in ("primary", "alternate", "marked")],
        widget=forms.HiddenInput,
    )
    visually_distinct = forms.BooleanField(
        label="Depths count visually distinct formulas", required=False
    )
    instances = DepthField("Instances of a formula, at most", lowest=1, highest=MOST_INSTANCES)
    instance_policy = forms.ChoiceField(
        label="Which instances",
        choices=[
            ("runs", "Brought by the most runs"),
            ("reciprocal-rank", "Highest sum of reciprocal ranks"),
            ("threads", "Of different threads"),
        ],
    )
    extra_depth = DepthField(
        "Rank in posts judged relevant in Task 1",
        required=False,
        help_text="Empty: there, too, no deeper than the depths.",
    )
    extra_threads = forms.BooleanField(
        label="The answers of the topic's own thread and of its duplicates", required=False
    )
    holds_written_answers = forms.BooleanField(
        label="All written answers of Task 3, mixed in", required=False
    )
    seed = DepthField(
        "Seed",
        highest=LARGEST_SEED,
        help_text="Draws the order of the items, and breaks ties of instances.",
    )

    def __init__(
        self, data: Mapping[str, Any], *, task: Task, runs: Sequence[Run], protocol: PoolProtocol
    ) -> None:
        """Take the settings of a task. What it has no field for is as `protocol` says; `runs` are
        those that are pooled.
        """
        super().__init__(data)
        self.protocol = protocol
        for name in frozenset().union(*OF_KIND.values()) - OF_KIND[TaskKind(task.kind)]:
            del self.fields[name]
        self.runs = {f"{BASELINE}{run.pk}": run for run in runs if run.is_baseline}
        for name, run in self.runs.items():
            self.fields[name] = forms.ChoiceField(
                label=str(run),
                choices=[
                    ("baseline-primary", "as primary"),
                    ("baseline-alternate", "as alternate"),
                ],
                required=False,
            )

    @property
    def baseline_fields(self) -> list[forms.BoundField]:
        """Return the fields that say as what each baseline is pooled."""
        return [self[name] for name in self.runs]

    def clean(self) -> dict[str, Any]:
        """Ask for a size where the pool grows until it has one."""
        cleaned = super().clean() or {}
        if cleaned.get("method") == "rank-by-rank" and cleaned.get("size") == 0:
            self.add_error(
                "size",
                "Enter a whole number from 1 for the items a topic: the pool grows until it has them.",
            )
        return cleaned

    @property
    def choice(self) -> PoolChoice:
        """Return what was chosen; a field that this kind of task does not have is as the protocol has
        it.
        """
        known = set(asdict(self.protocol))
        values = {name: value for name, value in self.cleaned_data.items() if name in known}
        protocol = replace(self.protocol, **values)
        kinds = {
            run.pk: self.cleaned_data[name]
            for name, run in self.runs.items()
            if self.cleaned_data[name]
        }
        return PoolChoice(protocol, self.cleaned_data["seed"], kinds)


def choice_data(choice: PoolChoice, runs: Sequence[Run], *, seed: str) -> dict[str, Any]:
    """Return a choice, with another seed, as if it had been filled in."""
    settings = asdict(choice.protocol).items()
    filled = {name: value for name, value in settings if value is not None and value is not False}
    baselines = {f"{BASELINE}{run.pk}": choice.kind_of(run) for run in runs if run.is_baseline}
    return {**filled, **baselines, "seed": seed}


class CostForm(forms.Form):
    """What an item takes, for the hours and the money of a plan."""

    seconds = forms.FloatField(label="Seconds an item", min_value=0, max_value=86_400)
    wage = forms.FloatField(label="Wage an hour", min_value=0, max_value=1_000_000)


class SupplementForm(forms.Form):
    """Why a supplement is made."""

    reason = forms.CharField(
        label="Reason",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The page of the supplement shows it.",
        error_messages={"required": "Say why the supplement is made."},
    )
