"""The data of the chart of a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arqkit.measures.names import Measure
from evaluation.permissions import ScoreAccess, VisibleBoard
from evaluation.selectors.spreads import MOST_RUNS, RunSpread, run_spreads
from evaluation.views.tables import link_ends


def spread_context(
    shown: VisibleBoard, sight: ScoreAccess, label: str, *, further: int = 0
) -> dict[str, Any]:
    """Return the chart of a leaderboard in the measure with this label, and its table.

    The last measures (`further`) have no scores by topic. An unknown label is the main measure.
    """
    stored = shown.board.measures[: len(shown.board.measures) - further]
    measures = {one.label: one for one in stored if one.is_rating}
    measure = measures.get(label, next(iter(measures.values()), None))
    if measure is None:
        return {}
    spreads = run_spreads(shown.board, qrel_set=shown.qrel_set, measure=measure)
    return {
        "spread_measure": measure,
        "spread_measures": measures.values(),
        "spreads": spreads,
        "most_runs": MOST_RUNS,
        "spread_chart": _chart(spreads, measure, sight, link_ends(shown, sight, [measure])[0]),
    }


def _chart(
    spreads: Sequence[RunSpread], measure: Measure, sight: ScoreAccess, end: str
) -> dict[str, Any]:
    """Return the data of the chart, as `js/charts.js` reads them."""
    own = sight.own_teams.values()
    return {
        "measure": measure.heading,
        "end": end,
        "runs": [
            [
                one.run.key,
                one.run.label,
                one.run.team,
                "own" if one.run.team in own else "base" if one.run.is_baseline else "",
                *(round(value, 4) for value in (one.mean, *one[3:])),
            ]
            for one in spreads
        ],
    }
