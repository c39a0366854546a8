"""The numbers of a pool before it is frozen, fast enough to follow a slider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import polars as pl

from arqlab.core.models import Task
from arqlab.ir.poolplan import Plan, Planner
from arqlab.ir.protocols import RunKind
from assessment.models import Judgment
from assessment.selectors.pools import TopicSize
from assessment.selectors.poolsources import PoolChoice, TaskSources, pool_sources, with_indexes
from assessment.selectors.qrels import qrels_named
from submissions.models import Run

USUAL_DEPTH = 200
"""As deep the planner looks; deeper only when it is asked to, which takes as much longer and as much more memory."""
KEPT_PLANNERS = 4


class RunPlan(NamedTuple):
    """A run of a plan: as what and how deep it is pooled, the items it brings, those that it alone brings.

    Down to the rank `clear_to` nothing of it is unjudged; `is_clear` when that is as far as was looked. `shared` says
    of each run of the plan how many of the items it brings too.
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
    """What a pool would be: topics (all of the task), runs, teams, and how many items come from no run."""

    topics: list[TopicSize]
    runs: list[RunPlan]
    teams: list[TeamPlan]
    sources: TaskSources
    looked_to: int

    @property
    def items(self) -> int:
        """Give the items of all topics."""
        return sum(topic.items for topic in self.topics)

    @property
    def labels(self) -> int:
        """Give the labels that they ask for."""
        return sum(topic.labels for topic in self.topics)

    @property
    def clear_to(self) -> int:
        """Give the rank down to which nothing of any run is unjudged."""
        return min((run.clear_to for run in self.runs), default=0)
