"""The effect of a version of the qrels on the ranking of the runs."""

from typing import NamedTuple

import polars as pl

from arqkit.comparison.correlation import RankingEffect, ranking_effects
from arqkit.measures.names import Measure
from assessment.models import QrelSet
from evaluation.selectors.boards import live_board, live_scores
from evaluation.selectors.pending_scores import measures_of


class RunEffect(NamedTuple):
    """A run with its means by two versions; equal means have the same rank, a rise is positive."""

    key: int
    team: str
    tag: str
    before: float
    after: float
    change: float
    rank_before: int
    rank_after: int
    rise: int


class VersionEffect(NamedTuple):
    """How the rankings of the competing runs by two versions compare in a measure.

    `rows` has the best runs of `after` first. Runs that lack a score in one of the versions are
    left out.
    """

    measure: Measure
    ranking: RankingEffect
    rows: list[RunEffect]


def shared_measures(before: QrelSet, after: QrelSet) -> dict[Measure, Measure]:
    """Return the measures by which both versions rate runs: of `after`, with those of `before`.

    They differ in the lowest relevant label if the versions do.
    """
    by_label = {measure.label: measure for measure in measures_of(before)}
    return {measure: by_label[measure.label] for measure in measures_of(after) if measure.is_rating}


def version_effect(before: QrelSet, after: QrelSet, measure: Measure) -> VersionEffect:
    """Return the effect of two versions on the ranking of the runs in a measure of `after`."""
    name = shared_measures(before, after)[measure].name
    earlier = {run: values.get(name) for run, values in live_scores(before).items()}
    runs = [row.run for row in live_board(after).rows if row.run.counts]
    rows = {
        "key": [run.key for run in runs],
        "team": [run.team for run in runs],
        "tag": [run.label for run in runs],
        "before": [earlier.get(run.key) for run in runs],
        "after": [run.values.get(measure.name) for run in runs],
    }
    types = {"team": pl.String, "tag": pl.String, "before": pl.Float64, "after": pl.Float64}
    frame = pl.DataFrame(rows, schema_overrides=types).drop_nulls()
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
    ranked = frame.sort("rank_after", "team", "tag").select(RunEffect._fields)
    return VersionEffect(measure, ranking, [RunEffect(*row) for row in ranked.iter_rows()])
