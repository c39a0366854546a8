"""What a pool would be: its size, what each run and team alone brings, overlap, hours and money, before anything is frozen.

A Planner numbers the runs' rows once; a plan is then a count over them, fast enough to follow a slider.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from arqlab.ir.pooling import PoolSources, after_earlier, gather, rank_by_rank
from arqlab.ir.protocols import PoolProtocol, RunKind
from arqlab.ir.topicfile import natural_key


@dataclass(frozen=True)
class Cost:
    """What judging takes: hours of assessors, and money at their wage."""

    hours: float
    money: float


@dataclass(frozen=True)
class Plan:
    """The numbers of a pool that is not frozen yet.

    topics: topic, items, labels (an item of several instances takes several). runs: run, team, items (that it brings),
    alone (that no other run brings, nor the extras), clear_to (nothing unjudged at this rank or above, in any topic; of
    Task 2 a rank of formulas; counted no further than the planner looks). teams: team, items, alone. overlap: run,
    other, shared (items that both bring), for every ordered pair of runs.
    """

    topics: pl.DataFrame
    runs: pl.DataFrame
    teams: pl.DataFrame
    overlap: pl.DataFrame

    @property
    def items(self) -> int:
        """The items of all topics."""
        return int(self.topics["items"].sum())

    @property
    def labels(self) -> int:
        """The labels that all topics ask for."""
        return int(self.topics["labels"].sum())

    def cost(self, *, seconds: float, wage: float) -> Cost:
        """Give the hours at so many seconds an item, and the money at a wage for an hour."""
        hours = self.items * seconds / 3600
        return Cost(hours, hours * wage)
