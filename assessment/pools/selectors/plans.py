"""The numbers of a pool before it is frozen, fast enough to follow a slider."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from arqlab.core.models import Task
from arqlab.ir.pooling.plans import Cost, Plan, Planner
from arqlab.ir.protocols.presets import RunKind
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.selectors.frozen import TopicSize
from assessment.pools.selectors.sources import (
    TaskSources,
    kernel_sources,
    sources_state,
    task_sources,
    written_answers,
)
from submissions.models import Run

USUAL_DEPTH = 200
"""As deep the planner looks; deeper only when it is asked to, which takes as much longer and as
much more memory.
"""
KEPT_PLANNERS, KEPT_DEEP_PLANNERS = 3, 1
"""Those that follow a slider, each of another task or of deeper settings: whoever goes back to one
does not wait for it.

Of 40 runs one takes some 60 MB, and some 300 MB where it looks as deep as the runs go.
"""


class RunPlan(NamedTuple):
    """A run of a plan: as what and how deep it is pooled, the items it brings, those that it alone
    brings.

    Down to the rank `clear_to` nothing of it is unjudged; `is_clear` when that is as far as was
    looked. `shared` says of each run of the plan how many of the items it brings too.
    """

    run: Run
    kind: RunKind
    depth: int | None
    items: int
    alone: int
    clear_to: int
    is_clear: bool
    shared: list[int]


class TeamPlan(NamedTuple):
    """The items that a team's runs bring, and those that no other team brings."""

    team: str
    items: int
    alone: int


@dataclass(frozen=True)
class PoolPlan:
    """What a pool would be, or a supplement: its topics (all of the task), runs and teams.

    `counts` is the kernel's plan; None where there is nothing to count.
    """

    topics: list[TopicSize]
    runs: list[RunPlan]
    teams: list[TeamPlan]
    sources: TaskSources
    counts: Plan | None = None

    def cost(self, *, seconds: float, wage: float) -> Cost:
        """Return the hours at so many seconds an item, and the money at a wage for an hour."""
        return self.counts.cost(seconds=seconds, wage=wage) if self.counts else Cost(0.0, 0.0)

    @property
    def items(self) -> int:
        """Return the items of all topics."""
        return sum(topic.items for topic in self.topics)

    @property
    def labels(self) -> int:
        """Return the labels that they ask for."""
        return sum(topic.labels for topic in self.topics)

    @property
    def clear_to(self) -> int:
        """Return the rank down to which nothing of any run is unjudged."""
        return min((run.clear_to for run in self.runs), default=0)


def plan_pool(*, task: Task, choice: PoolChoice) -> PoolPlan:
    """Count what a pool of the task would be now; where it has pools, what a supplement to them
    would be.

    Raises `UserError` when two runs bring one written answer with different texts.
    """
    sources = task_sources(task, choice)
    topics = task.topics.order_by("position").values_list("query_id", flat=True)
    if not sources.runs and not sources.written and not choice.protocol.extra_threads:
        return PoolPlan([TopicSize(topic, 0, 0) for topic in topics], [], [], sources)
    deepest = _deepest(task, choice)
    wanted = _Wanted(deepest, choice.protocol.visually_distinct, sources_state(sources), sources)
    plan = _planner(wanted).plan(
        choice.protocol, {str(run.pk): choice.kind_of(run) for run in sources.runs}
    )
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
    """A planner, told by the state of its sources; they are read when there is none of it yet."""

    deepest: int
    visually_distinct: bool
    state: tuple[Any, ...]
    sources: TaskSources = field(compare=False)


def _planner(wanted: _Wanted) -> Planner:
    return (_usual_planner if wanted.deepest <= USUAL_DEPTH else _deep_planner)(wanted)


@lru_cache(maxsize=KEPT_PLANNERS)
def _usual_planner(wanted: _Wanted) -> Planner:
    return _read(wanted)


@lru_cache(maxsize=KEPT_DEEP_PLANNERS)
def _deep_planner(wanted: _Wanted) -> Planner:
    return _read(wanted)


def _read(wanted: _Wanted) -> Planner:
    kernel = kernel_sources(wanted.sources, written_answers(wanted.sources))
    return Planner(kernel, visually_distinct=wanted.visually_distinct, deepest=wanted.deepest)


def _deepest(task: Task, choice: PoolChoice) -> int:
    protocol = choice.protocol
    asked = max(protocol.primary, protocol.alternate, protocol.manual or 0, protocol.size)
    return USUAL_DEPTH if asked <= USUAL_DEPTH else max(asked, task.protocol.limit)


def _runs(plan: Plan, sources: TaskSources, deepest: int) -> list[RunPlan]:
    choice, shared = sources.choice, plan.overlap["shared"].to_list()
    rows, found = len(sources.runs), []
    for number, (run, row) in enumerate(
        zip(sources.runs, plan.runs.iter_rows(named=True), strict=True)
    ):
        kind = choice.kind_of(run)
        found.append(
            RunPlan(
                run=run,
                kind=kind,
                depth=choice.protocol.depth_of(kind) if choice.protocol.method == "depth" else None,
                items=row["items"],
                alone=row["alone"],
                clear_to=row["clear_to"],
                is_clear=row["clear_to"] >= deepest,
                shared=shared[number * rows : (number + 1) * rows],
            )
        )
    return found
