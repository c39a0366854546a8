"""The settings of a plan: of the pool, what is left out by hand, and the cost of judging."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import timezone

from arqlab.core.models import Task
from arqlab.labs.forms.topics import LeftOutTopicsForm
from assessment.models import PayRule, Pool
from assessment.pools.forms.settings import CostForm, PoolForm, choice_data
from assessment.pools.selectors.choices import PoolChoice, candidate_runs, choice_of, runs_to_choose
from assessment.pools.selectors.frozen import presets_for
from submissions.forms import LeftOutRunsForm

WAGE = 15


@dataclass(frozen=True)
class PlanSettings:
    """The submitted or preset settings, and the pools of the task."""

    task: Task
    pools: list[Pool]
    form: PoolForm
    cost: CostForm
    runs: LeftOutRunsForm
    topics: LeftOutTopicsForm

    @property
    def is_valid(self) -> bool:
        """Return whether all settings are valid."""
        return all(form.is_valid() for form in (self.form, self.cost, self.runs, self.topics))

    @property
    def choice(self) -> PoolChoice:
        """Return the chosen settings, with what is left out by hand."""
        return replace(
            self.form.choice, without_runs=self.runs.run_reasons, without_topics=self.topics.reasons
        )

    @property
    def query(self) -> str:
        """Return the settings as a query, which opens the plan again, without empty fields."""
        fields = [*self.form, *self.cost]
        values = {field.html_name: field.value() for field in fields}
        filled = {
            name: value
            for name, value in values.items()
            if value is not None and value is not False
        }
        reasons = {field.html_name: field.value() for field in [*self.runs, *self.topics]}
        return urlencode(filled | {name: reason for name, reason in reasons.items() if reason})


def plan_settings(task: Task, data: QueryDict, *, offers_all: bool = False) -> PlanSettings:
    """Read the settings from a query or a form, or take those of the last pool or the protocol.

    A preset sets everything except the seed and the cost of judging. Only with `offers_all`, the
    forms have runs and topics that are not left out: a thousand fields take a tenth of a second.
    """
    pools = list(Pool.official.filter(task=task).order_by("number"))
    preset = presets_for(task).get(data.get("preset", ""))
    if pools and not preset:
        choice = choice_of(pools[-1])
    else:
        choice = PoolChoice(preset or task.protocol.pool, seed=0)
    runs = runs_to_choose(task)
    seed = data.get("seed", f"{timezone.now():%Y%m%d}")
    filled = (
        data if "seed" in data and "preset" not in data else choice_data(choice, runs, seed=seed)
    )
    form = PoolForm(filled, task=task, runs=runs, protocol=choice.protocol)
    candidates, topics = candidate_runs(task), task.topics.all()
    if not offers_all:
        names = [name.partition("-")[::2] for name in filled]
        left_out = {key for kind, key in names if kind == "runs" and key.isdecimal()}
        candidates = candidates.filter(pk__in=left_out)
        topics = topics.filter(query_id__in=[key for kind, key in names if kind == "topics"])
    costs = {
        "seconds": data.get("seconds", task.protocol.seconds),
        "wage": data.get("wage", PayRule.of(task.lab).hourly_rate or WAGE),
    }
    return PlanSettings(
        task,
        pools,
        form,
        CostForm(costs),
        LeftOutRunsForm(filled, runs=candidates),
        LeftOutTopicsForm(filled, topics=topics),
    )
