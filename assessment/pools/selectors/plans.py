"""Plans: the size and cost of a pool before it is frozen, fast enough to follow a slider."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from arqkit.pooling.plans import Cost, Plan, Planner
from arqkit.protocols.presets import RunKind
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
KEPT_PLANNERS, KEPT_DEEP_PLANNERS = 3, 1
"""The numbers of cached planners, so that going back to a task is fast.

With 40 runs, a planner takes about 60 MB, or 300 MB at the full depth of the runs.
"""


class RunPlan(NamedTuple):
    """A run of a plan: its kind and depth, the items it contributes, and those only it contributes.

    All its items down to the rank `judged_to` are in the pool; `is_fully_judged` means down to the
    depth that was read. `shared` has the number of its items that each run of the plan contributes
    too.
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
    wanted = _Wanted(deepest, choice.protocol.visually_distinct, sources_state(sources), sources)
    planner = (_usual_planner if deepest <= USUAL_DEPTH else _deep_planner)(wanted)
    kinds = {str(run.pk): choice.kind_of(run) for run in sources.runs}
    plan = planner.plan(choice.protocol, kinds)
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


@dataclass(frozen=True)
class _Wanted:
    """The key of a cached planner, with the sources to read if it is not cached."""

    deepest: int
    visually_distinct: bool
    state: tuple[Any, ...]
    sources: TaskSources = field(compare=False)


def _planner(wanted: _Wanted) -> Planner:
    kernel = kernel_sources(wanted.sources, generated_answers(wanted.sources))
    return Planner(kernel, visually_distinct=wanted.visually_distinct, deepest=wanted.deepest)


_usual_planner = lru_cache(maxsize=KEPT_PLANNERS)(_planner)
_deep_planner = lru_cache(maxsize=KEPT_DEEP_PLANNERS)(_planner)


def _deepest(task: Task, choice: PoolChoice) -> int:
    protocol = choice.protocol
    asked = max(protocol.primary, protocol.alternate, protocol.manual or 0, protocol.size)
    return USUAL_DEPTH if asked <= USUAL_DEPTH else max(asked, task.protocol.limit)


def _runs(plan: Plan, sources: TaskSources, deepest: int) -> list[RunPlan]:
    choice, shared = sources.choice, plan.overlap["shared"].to_list()
    rows, counts = len(sources.runs), plan.runs.select("items", "unique", "judged_to").iter_rows()
    return [
        RunPlan(
            run,
            choice.kind_of(run),
            choice.depth_of(run),
            items,
            unique,
            judged_to,
            is_fully_judged=judged_to >= deepest,
            shared=shared[number * rows : (number + 1) * rows],
        )
        for number, (run, (items, unique, judged_to)) in enumerate(
            zip(sources.runs, counts, strict=True)
        )
    ]
