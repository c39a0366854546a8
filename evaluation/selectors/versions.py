"""The effect of a version of the qrels on the leaderboard, compared with another version."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from arqkit.agreement.effect import RankingEffect, ranking_effects
from arqkit.measures.names import Measure
from assessment.models import QrelSet
from evaluation.selectors.boards import live_board
from evaluation.selectors.pending_scores import measures_of

_COLUMNS = {
    "key": pl.Int64,
    "team": pl.String,
    "tag": pl.String,
    "before": pl.Float64,
    "after": pl.Float64,
}


class VersionEffect(NamedTuple):
    """How the rankings of the competing runs by two versions compare in a measure.

    `rows` has team, tag, key, before, after and change (the means of the run and their difference),
    rank_before, rank_after and rise (a better rank is positive), the best runs of `after` first.
    Equal means have the same rank. Runs that lack a score in one of the versions are left out.
    """

    measure: Measure
    ranking: RankingEffect
    rows: list[dict[str, Any]]


def shared_measures(before: QrelSet, after: QrelSet) -> dict[Measure, Measure]:
    """Return the measures by which both versions rate runs: of `after`, with those of `before`.

    They differ in the lowest relevant label if the versions do.
    """
    known = {one.label: one for one in measures_of(before)}
    return {one: known[one.label] for one in measures_of(after) if one.is_rating}


def version_effect(before: QrelSet, after: QrelSet, measure: Measure) -> VersionEffect:
    """Return the effect of two versions on the ranking of the runs in a measure of `after`."""
    earlier = shared_measures(before, after)[measure]
    sides = {
        side: {row.run.key: row.run for row in live_board(version).rows if row.run.counts}
        for side, version in (("before", before), ("after", after))
    }
    names = {"before": earlier.name, "after": measure.name}
    rows = [
        (
            run.key,
            run.team,
            run.label,
            *(sides[side][key].values[name] for side, name in names.items()),
        )
        for key, run in sides["after"].items()
        if all(name in getattr(sides[side].get(key), "values", ()) for side, name in names.items())
    ]
    frame = pl.DataFrame(rows, schema=_COLUMNS, orient="row")
    frame = frame.with_columns(
        change=pl.col("after") - pl.col("before"),
        rank_before=pl.col("before").rank("min", descending=True),
        rank_after=pl.col("after").rank("min", descending=True),
    ).with_columns(rise=pl.col("rank_before").cast(pl.Int64) - pl.col("rank_after").cast(pl.Int64))
    first, second = (
        frame.select(run=pl.col("key").cast(pl.String), measure=pl.lit(""), value=side)
        for side in ("before", "after")
    )
    ranking = ranking_effects(first, second).get("", RankingEffect(0, None, None, ()))
    return VersionEffect(measure, ranking, frame.sort("rank_after", "team", "tag").to_dicts())
