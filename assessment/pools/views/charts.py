"""Charts of pools: a bar chart of items per topic, and the overlap of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from assessment.pools.selectors.frozen import TopicSize
from assessment.pools.selectors.plans import RunPlan

WIDTH, HEIGHT = 1000, 160  # in SVG units
HEATS = 10


class Bar(NamedTuple):
    """A topic as a bar, in SVG units; `done` is the height of the judged part."""

    topic: TopicSize
    x: float
    y: float
    width: float
    height: float
    done: float

    @property
    def done_y(self) -> float:
        """Return the upper end of the judged part."""
        return HEIGHT - self.done


@dataclass(frozen=True)
class Picture:
    """A bar chart of items per topic, largest first, with median, largest and smallest topic."""

    bars: list[Bar]
    largest: TopicSize
    smallest: TopicSize
    median: float

    width, height = WIDTH, HEIGHT

    @property
    def median_y(self) -> float:
        """Return the position of the median line."""
        return HEIGHT - HEIGHT * self.median / max(self.largest.items, 1)


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
    """Return the bar chart of items per topic, or None without items."""
    ordered = sorted(topics, key=lambda topic: -topic.items)
    if not ordered or not ordered[0].items:
        return None
    step, unit = WIDTH / len(ordered), HEIGHT / ordered[0].items
    bars = [
        Bar(
            topic,
            x=round(number * step, 2),
            y=round(HEIGHT - topic.items * unit, 2),
            width=round(step * 0.8, 2),
            height=round(topic.items * unit, 2),
            done=round(topic.done * unit, 2),
        )
        for number, topic in enumerate(ordered)
    ]
    return Picture(bars, ordered[0], ordered[-1], median(topic.items for topic in ordered))


def overlap_of(runs: Sequence[RunPlan]) -> list[OverlapRow]:
    """Return the overlap matrix of the runs of a plan."""
    return [
        OverlapRow(number, run, [_cell(shared, run.items) for shared in run.shared])
        for number, run in enumerate(runs, start=1)
    ]


def _cell(shared: int, items: int) -> OverlapCell:
    if not items:
        return OverlapCell(None, 0)
    percent = round(100 * shared / items)
    return OverlapCell(percent, percent * HEATS // 100)
