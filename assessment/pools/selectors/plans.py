"""Plans: the size and cost of a pool before it is frozen, fast enough to follow a slider."""

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from arqkit.pooling.plans import Cost, Plan, Planner
from arqkit.pooling.pools import gather_for, pooled_rows, without_earlier
from arqkit.protocols.presets import PoolProtocol, RunKind
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Task
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.selectors.frozen import TopicSize
from assessment.pools.selectors.sources import (
    TaskSources,
    generated_answers,
    kernel_sources,
    sources_state,
    task_sources,
)
from submissions.models import Run

USUAL_DEPTH = 200
"""The depth to which planners read runs unless the settings are deeper.

Time and memory grow with the depth.
"""
KEPT_BYTES = 64_000_000
"""How many bytes of planners a process keeps, so that figures follow a slider.

A row of a run takes about 10.
"""
MOST_ROWS = 2_000_000
"""The most rows of a planner that pages use; plans of more rows are computed one by one."""
READING, ROWS = 2e-6, 1_000
"""The seconds to read and number a row, and the rows of a run whose report has no number."""


class RunPlan(NamedTuple):
    """A run of a plan: its kind and depth, the items it contributes, and those only it contributes.

    All its items down to the rank `judged_to` are in the pool; `is_fully_judged` means down to the
    depth that was read. `shared` has the number of its items that each compared run of the plan
    contributes too; it is empty for a run that is not compared (`Plan.overlap`).
    """

    run: Run
    kind: RunKind
    depth: int | None
    items: int
    unique: int
    judged_to: int
    is_fully_judged: bool
    shared: list[int]


class TeamPlan(NamedTuple):
    """The items that a team's runs contribute, and those that no other team contributes."""

    team: str
    items: int
    unique: int


@dataclass(frozen=True)
class PoolPlan:
    """The plan of a pool or supplement: all topics of the task, its runs and teams.

    `counts` is the plan of `arqkit.pooling.plans`, or None if there is nothing to count.
    """

    topics: list[TopicSize]
    runs: list[RunPlan]
    teams: list[TeamPlan]
    sources: TaskSources
    counts: Plan | None = None

    def cost(self, *, seconds: float, wage: float) -> Cost:
        """Return the hours at `seconds` per label, and the cost at a `wage` per hour."""
        return self.counts.cost(seconds=seconds, wage=wage) if self.counts else Cost(0.0, 0.0)

    @property
    def items(self) -> int:
        """Return the number of items."""
        return sum(topic.items for topic in self.topics)

    @property
    def labels(self) -> int:
        """Return the number of labels required for the items."""
        return sum(topic.labels for topic in self.topics)

    @property
    def judged_to(self) -> int:
        """Return the rank down to which all items of all runs are in the pool."""
        return min((run.judged_to for run in self.runs), default=0)


def plan_pool(*, task: Task, choice: PoolChoice) -> PoolPlan:
    """Return the plan of a pool of the task as of now, or of a supplement if it has pools.

    Raise `UserError` if two runs have different texts for one answer.
    """
    sources = task_sources(task, choice)
    topics = task.topics.order_by("position").values_list("query_id", flat=True)
    if not sources.runs and not sources.written and not choice.protocol.extra_threads:
        return PoolPlan([TopicSize(topic, 0, 0) for topic in topics], [], [], sources)
    deepest = _deepest(task, choice)
    plan_input = _Wanted(
        deepest, choice.protocol.visually_distinct, sources_state(sources), sources
    )
    kinds = {str(run.pk): choice.kind_of(run) for run in sources.runs}
    plan = _plan(plan_input, choice.protocol, kinds)
    sizes = {
        topic: TopicSize(topic, items, labels) for topic, items, labels in plan.topics.iter_rows()
    }
    return PoolPlan(
        topics=[sizes.get(topic, TopicSize(topic, 0, 0)) for topic in topics],
        runs=_runs(plan, sources, deepest),
        teams=[TeamPlan(*row) for row in plan.teams.iter_rows()],
        sources=sources,
        counts=plan,
    )


def contributing_runs(sources: TaskSources) -> set[int]:
    """Return the runs (keys) that have items for a pool of the task that no earlier pool has.

    Raise `UserError` if two runs have different texts for one answer.
    """
    protocol = sources.choice.protocol
    key = key_of("contributing-runs", sources_state(sources), sources.choice)

    def compute() -> set[int]:
        kernel = kernel_sources(sources, generated_answers(sources))
        rows = pooled_rows(gather_for(protocol, kernel), protocol, kernel)
        return set(map(int, without_earlier(rows, kernel.earlier)["run"].unique()))

    return cached_value(key, compute, work=READING * _rows_of(sources))


@dataclass(frozen=True)
class _Wanted:
    """A planner: the depth to which it reads the runs, and the sources."""

    deepest: int
    visually_distinct: bool
    state: tuple[object, ...]
    sources: TaskSources = field(compare=False, repr=False)

    def planner(self) -> Planner:
        """Read the runs."""
        kernel = kernel_sources(self.sources, generated_answers(self.sources))
        return Planner(kernel, visually_distinct=self.visually_distinct, deepest=self.deepest)


_kept: OrderedDict[_Wanted, Planner] = OrderedDict()


def _plan(plan_input: _Wanted, protocol: PoolProtocol, kinds: Mapping[str, RunKind]) -> Plan:
    rows = _rows_of(plan_input.sources)
    if rows > MOST_ROWS:
        key = key_of("plan", plan_input, protocol, kinds)
        return cached_value(
            key, lambda: plan_input.planner().plan(protocol, kinds), work=READING * rows
        )
    planner = _kept.pop(plan_input, None) or cached_value(
        key_of("planner", plan_input), plan_input.planner, work=READING * rows
    )
    _kept[plan_input] = planner
    with suppress(KeyError):  # another thread may do the same
        while len(_kept) > 1 and sum(one.nbytes for one in [*_kept.values()]) > KEPT_BYTES:
            _kept.popitem(last=False)
    return planner.plan(protocol, kinds)


def _rows_of(sources: TaskSources) -> int:
    return sum(run.report.get("rows") or ROWS for run in (*sources.runs, *sources.written))


def _deepest(task: Task, choice: PoolChoice) -> int:
    protocol = choice.protocol
    deepest = max(protocol.primary, protocol.alternate, protocol.manual or 0, protocol.size)
    return USUAL_DEPTH if deepest <= USUAL_DEPTH else max(deepest, task.protocol.limit)


def _runs(plan: Plan, sources: TaskSources, deepest: int) -> list[RunPlan]:
    choice, counts = sources.choice, plan.runs.select("items", "unique", "judged_to").iter_rows()
    compared = plan.overlap.group_by("run", maintain_order=True).agg("shared")
    shared = dict(compared.iter_rows())
    return [
        RunPlan(
            run,
            choice.kind_of(run),
            choice.depth_of(run),
            items,
            unique,
            judged_to,
            is_fully_judged=judged_to >= deepest,
            shared=shared.get(str(run.pk), []),
        )
        for run, (items, unique, judged_to) in zip(sources.runs, counts, strict=True)
    ]
