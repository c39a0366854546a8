"""The chart of a board: the spread of the scores of its runs."""

from collections.abc import Iterable
from dataclasses import dataclass

from arqkit.measures.names import Measure
from evaluation.permissions import ScoreAccess, VisibleBoard
from evaluation.selectors.spreads import MOST_RUNS, RunSpread, run_spreads
from evaluation.views.tables import link_ends

FEW_BARS = 12
"""The most runs whose bars need no full width."""


@dataclass(frozen=True, kw_only=True)
class BoardSpread:
    """The spread of the runs of a board in one of its measures, as a chart and as a table."""

    spread_measure: Measure
    spread_measures: Iterable[Measure]
    spreads: list[RunSpread]
    most_runs: int
    spread_chart: dict[str, object]


def spread_of_runs(
    visible: VisibleBoard, sight: ScoreAccess, label: str, *, further: int = 0
) -> BoardSpread | None:
    """Return the chart of a leaderboard in the measure with this label, and its table.

    The last measures (`further`) have no scores by topic. An unknown label is the main measure.
    """
    stored = visible.board.measures[: len(visible.board.measures) - further]
    measures = {rating.label: rating for rating in stored if rating.is_rating}
    measure = measures.get(label, next(iter(measures.values()), None))
    if measure is None:
        return None
    spreads = run_spreads(visible.board, qrel_set=visible.qrel_set, measure=measure)
    return BoardSpread(
        spread_measure=measure,
        spread_measures=measures.values(),
        spreads=spreads,
        most_runs=MOST_RUNS,
        spread_chart={
            "measure": measure.heading,
            "end": link_ends(visible, sight, [measure])[0],
            "runs": [
                [
                    run.key,
                    run.label,
                    run.team,
                    "own" if run.key in sight.own_runs else "base" if run.is_baseline else "",
                    *(round(value, 4) for value in (mean, *figures)),
                ]
                for run, mean, _, *figures in spreads
            ],
        },
    )
