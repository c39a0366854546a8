"""The table of all pairs of runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from arqkit.comparison.differences import pair_differences, run_pairs
from arqkit.comparison.families import PairFamily
from arqkit.leaderboard import BoardRun
from arqkit.measures.columns import Reals
from evaluation.services.comparison import SIGNIFICANT, ComparedRuns

TESTS = {
    "t": "Paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "randomization": "Randomization test",
    "tukey": "Tukey’s HSD",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "plain": "none"}


class PairCell(NamedTuple):
    """The p-value of a pair, or None if it cannot be tested, and the URL of its page."""

    value: float | None
    is_significant: bool
    url: str


class PairLine(NamedTuple):
    """A run with its mean and its tests against the runs with better means."""

    run: BoardRun
    mean: float
    cells: list[PairCell]


def pair_lines(compared: ComparedRuns, values: Reals, *, address: str, most: int) -> list[PairLine]:
    """Return the first runs with the p-values (a square matrix) of their pairs."""
    runs = compared.runs[:most]
    return [
        PairLine(
            run,
            run.values[compared.measure.name],
            [
                _cell(float(values[row, column]), f"{address}&first={better.key}&second={run.key}")
                for column, better in enumerate(runs[:row])
            ],
        )
        for row, run in enumerate(runs)
    ]


def _cell(value: float, url: str) -> PairCell:
    return PairCell(None if np.isnan(value) else value, value < SIGNIFICANT, url)


def pair_table(compared: ComparedRuns, family: PairFamily) -> pl.DataFrame:
    """Return all pairs with their mean differences and p-values."""
    first, second = run_pairs(len(compared.runs))
    differences = pair_differences(compared.matrix.scores)
    known = ~np.isnan(differences)
    topics = known.sum(axis=1)
    totals = np.where(known, differences, 0).sum(axis=1)
    means = np.divide(totals, topics, out=np.full(len(topics), np.nan), where=topics > 0)
    names = {
        f"{side} {part}": [getattr(compared.runs[place], name) for place in places]
        for side, places in (("first", first), ("second", second))
        for part, name in (("team", "team"), ("run", "label"))
    }
    tested = {
        {"plain": "p"}.get(name, f"p {name}"): values[first, second]
        for name, values in family._asdict().items()
    }
    return pl.DataFrame(names | {"topics": topics, "mean difference": means} | tested).fill_nan(
        None
    )
