"""The values of all runs on a board for one topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, pstdev

from arqkit.leaderboard import Board, BoardRun
from arqkit.measures.names import Measure
from assessment.models import QrelSet
from evaluation.models import TopicScore


@dataclass(frozen=True)
class RunValue:
    """A run of a board with the value of a measure for a topic."""

    run: BoardRun
    value: float


@dataclass(frozen=True)
class Spread:
    """The spread of the values of the runs that compete."""

    runs: int
    best: float
    median: float
    mean: float
    worst: float
    deviation: float


def topic_values(
    board: Board, *, qrel_set: QrelSet, query_id: str, measure: Measure
) -> list[RunValue]:
    """Return the runs of a board with their values for a topic, best first.

    The runs that do not count follow the others.

    Runs without a value, such as those that did not answer the topic (Task 3), are left out.
    """
    runs = {row.run.key: row.run for row in board.rows}
    rows = TopicScore.objects.filter(
        qrel_set=qrel_set, query_id=query_id, measure=measure.name, run__in=runs
    )
    found = [RunValue(runs[key], value) for key, value in rows.values_list("run", "value")]
    return sorted(
        found, key=lambda one: (not one.run.counts, -one.value, one.run.team, one.run.tag)
    )


def spread_of(values: Iterable[RunValue]) -> Spread | None:
    """Return the spread of the values of the runs that compete, or None without any.

    The deviation is that of a population: the runs of the board are all there are.
    """
    known = [one.value for one in values if one.run.counts]
    if not known:
        return None
    best, worst = max(known), min(known)
    return Spread(len(known), best, median(known), fmean(known), worst, pstdev(known))


def values_of_runs(
    runs: Iterable[int], *, qrel_set: QrelSet, query_id: str, measures: Sequence[Measure]
) -> dict[int, dict[str, float]]:
    """Return the values of runs for a topic, by key of the run and name of the measure."""
    found: dict[int, dict[str, float]] = {run: {} for run in runs}
    names = [measure.name for measure in measures]
    rows = TopicScore.objects.filter(
        qrel_set=qrel_set, query_id=query_id, measure__in=names, run__in=found
    )
    for run, measure, value in rows.values_list("run", "measure", "value"):
        found[run][measure] = value
    return found
