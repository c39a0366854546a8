"""Charts of pools: a bar chart of items per topic, and the overlap of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from assessment.pools.selectors.frozen import TopicSize
from assessment.pools.selectors.plans import RunPlan

HEATS = 10


@dataclass(frozen=True)
class Picture:
    """The sizes of topics, largest first, and their median."""

    topics: list[TopicSize]
    median: float

    @property
    def largest(self) -> TopicSize:
        """Return the topic with the most items."""
        return self.topics[0]

    @property
    def smallest(self) -> TopicSize:
        """Return the topic with the fewest items."""
        return self.topics[-1]

    @property
    def data(self) -> dict[str, Any]:
        """Return the data of the chart, as `js/charts.js` reads it."""
        topics = [
            {"topic": topic.query_id, "items": topic.items, "done": topic.done}
            for topic in self.topics
        ]
        return {"median": self.median, "topics": topics}


class OverlapCell(NamedTuple):
    """The % of one run's items that another run also retrieved, and its shade."""

    percent: int | None
    heat: int


class OverlapRow(NamedTuple):
    """A run and its overlap with each run of the plan."""

    number: int
    run: RunPlan
    cells: list[OverlapCell]


def picture_of(topics: Sequence[TopicSize]) -> Picture | None:
    """Return the sizes of topics as a chart, or None if there is nothing to draw."""
    ordered = sorted(topics, key=lambda topic: -topic.items)
    if not ordered or not ordered[0].items:
        return None
    return Picture(ordered, median(topic.items for topic in ordered))


def overlap_of(runs: Sequence[RunPlan]) -> list[OverlapRow]:
    """Return the overlap matrix of the runs of a plan."""
    return [
        OverlapRow(number, run, [_cell(shared, run.items) for shared in run.shared])
        for number, run in enumerate(runs, start=1)
    ]


def overlap_chart(rows: Sequence[OverlapRow]) -> dict[str, Any]:
    """Return the overlap matrix as a chart, as `js/charts.js` reads it."""
    return {
        "runs": [str(row.run.run) for row in rows],
        "percents": [[cell.percent for cell in row.cells] for row in rows],
    }


def _cell(shared: int, items: int) -> OverlapCell:
    if not items:
        return OverlapCell(None, 0)
    percent = round(100 * shared / items)
    return OverlapCell(percent, percent * HEATS // 100)
