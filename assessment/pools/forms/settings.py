"""The forms of the settings of a pool."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from django import forms

from arqkit.pooling.pools import DEEPEST, LARGEST_SEED, MAX_INSTANCES, OF_KIND
from arqkit.protocols.presets import PoolProtocol
from arqkit.records import TaskKind
from arqkit.standings import CONTROL
from arqlab.core.models import Task
from assessment.models import Pool
from assessment.pools.selectors.choices import PoolChoice, choice_of, runs_to_choose
from submissions.models import Run

BASELINE = "run_"


class DepthField(forms.IntegerField):
    """A whole number between two bounds, which the error message names."""

    def __init__(
        self,
        label: str,
        *,
        lowest: int = 0,
        highest: int = DEEPEST,
        required: bool = True,
        help_text: str = "",
    ) -> None:
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
            help_text=help_text,
        )


class PoolForm(forms.Form):
    """The settings of a pool: its protocol, the seed, and how each baseline is pooled."""

    method = forms.ChoiceField(
        label="Method",
        choices=[("depth", "The top of every run"), ("rank-by-rank", "Rank by rank, up to a size")],
        error_messages={
            "invalid_choice": (
                "Choose a method: the top of every run, or rank by rank. Known-item tasks have no "
                "pool."
            )
        },
    )
    primary = DepthField("Primary runs")
    alternate = DepthField("Alternate runs")
    manual = DepthField(
        "Manual runs",
        required=False,
        help_text="If empty, each manual run uses the depth of primary or alternate runs.",
    )
    size = DepthField("Minimum items per topic")
    baselines = forms.ChoiceField(
        choices=[(value, value) for value in ("primary", "alternate", "marked")],
        widget=forms.HiddenInput,
    )
    visually_distinct = forms.BooleanField(
        label="Depths count visually distinct formulas", required=False
    )
    instances = DepthField("Maximum instances per formula", lowest=1, highest=MAX_INSTANCES)
    instance_policy = forms.ChoiceField(
        label="Which instances",
        choices=[
            ("runs", "Contributed by the most runs"),
            ("reciprocal-rank", "Highest sum of reciprocal ranks"),
            ("threads", "From different threads"),
        ],
    )
    shows_formulas_alone = forms.BooleanField(
        label="Assessors see formulas alone, without their documents",
        required=False,
        help_text="As in NTCIR-10. It holds for all pools and rounds of the task.",
    )
    extra_depth = DepthField(
        "Depth in posts relevant in Task 1",
        required=False,
        help_text="If empty, the depths above apply to these posts too.",
    )
    extra_threads = forms.BooleanField(
        label="Include answers from the topic's thread and its duplicates", required=False
    )
    includes_generated_answers = forms.BooleanField(
        label="Include all answers of Task 3", required=False
    )
    shows_threads = forms.BooleanField(
        label="Answer posts keep their Thread links beside answers of Task 3",
        required=False,
        help_text="ARQMath-3 kept them. Answers of Task 3 have no thread, so the links tell "
        "assessors which answers are posts. Without the links, both look alike.",
    )
    includes_post_hoc_runs = forms.BooleanField(label="Include post-hoc runs", required=False)
    seed = DepthField(
        "Seed",
        highest=LARGEST_SEED,
        help_text="The seed determines the order of items and breaks ties between instances.",
    )

    def __init__(
        self, data: Mapping[str, object], *, task: Task, runs: Sequence[Run], protocol: PoolProtocol
    ) -> None:
        """Build the form for a task.

        Settings without a field take the value of `protocol`. `runs` are those whose kind is
        chosen (`runs_to_choose`).
        """
        super().__init__(data)
        self.protocol = protocol
        for name in frozenset().union(*OF_KIND.values()) - OF_KIND[TaskKind(task.kind)]:
            del self.fields[name]
        if not task.lab.tasks.filter(kind=Task.Kind.GENERATED_ANSWERS).exists():
            self.fields.pop("includes_generated_answers", None)
            self.fields.pop("shows_threads", None)
        if not Run.objects.scorable().filter(task=task, is_post_hoc=True).exists():
            del self.fields["includes_post_hoc_runs"]
        self.runs = {f"{BASELINE}{run.pk}": run for run in runs}
        kinds = [("baseline-primary", "as primary"), ("baseline-alternate", "as alternate")]
        for name, run in self.runs.items():
            self.fields[name] = forms.ChoiceField(
                label=CONTROL.marked(run.tag) if run.is_control else str(run),
                choices=[("", "not pooled"), *kinds] if run.is_control else kinds,
                required=False,
            )

    @property
    def baseline_fields(self) -> list[forms.BoundField]:
        """Return the fields that set how each baseline is pooled."""
        return [self[name] for name in self.runs]

    def clean(self) -> dict[str, object]:
        """Require a size for the method that pools up to a size."""
        cleaned = super().clean() or {}
        if cleaned.get("method") == "rank-by-rank" and cleaned.get("size") == 0:
            self.add_error(
                "size", "Enter a whole number of at least 1 for the minimum items per topic."
            )
        return cleaned

    @property
    def choice(self) -> PoolChoice:
        """Return the chosen settings; fields this task lacks keep the protocol's value."""
        names = set(asdict(self.protocol))
        values = {name: value for name, value in self.cleaned_data.items() if name in names}
        protocol = replace(self.protocol, **values)
        kinds = {
            run.pk: self.cleaned_data[name]
            for name, run in self.runs.items()
            if self.cleaned_data[name]
        }
        return PoolChoice(protocol, self.cleaned_data["seed"], kinds)


def choice_data(choice: PoolChoice, runs: Sequence[Run], *, seed: str) -> dict[str, object]:
    """Return the form data of a choice, with another seed."""
    settings = asdict(choice.protocol).items()
    filled = {name: value for name, value in settings if value is not None and value is not False}
    baselines = {
        f"{BASELINE}{run.pk}": choice.kinds.get(run.pk, "")
        if run.is_control
        else choice.kind_of(run)
        for run in runs
    }
    left_out = {f"runs-{pk}": reason for pk, reason in choice.without_runs.items()}
    left_out |= {f"topics-{topic}": reason for topic, reason in choice.without_topics.items()}
    return {**filled, **baselines, **left_out, "seed": seed}


def planner_data(pool: Pool) -> dict[str, object]:
    """Return the form data that opens the planner with the settings of a pool."""
    choice = choice_of(pool)
    return choice_data(choice, runs_to_choose(pool.task), seed=str(choice.seed))


class CostForm(forms.Form):
    """Time per label and wage per hour, from which the plan's hours and cost are computed."""

    seconds = forms.FloatField(label="Seconds per label", min_value=0, max_value=86_400)
    wage = forms.FloatField(label="Wage per hour", min_value=0, max_value=1_000_000)


class SupplementForm(forms.Form):
    """The reason for a supplement."""

    reason = forms.CharField(
        label="Reason",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The supplement's page shows the reason.",
        error_messages={"required": "Enter a reason for the supplement."},
    )
