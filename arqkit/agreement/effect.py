"""The effect of other judgments on the ranking of systems: Kendall's tau and swaps.

Sources: Voorhees, Variations in relevance judgments and the measurement of retrieval effectiveness,
2000; Kendall, The treatment of ties in ranking problems, 1945 (tau-b); Yilmaz, Aslam & Robertson,
A new rank correlation coefficient for information retrieval, 2008 (tau-AP).
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.measures.columns import Reals


@dataclass(frozen=True, slots=True)
class RankingEffect:
    """How two rankings of the same runs by one measure compare.

    - runs: the number of runs in both.
    - tau: Kendall's tau-b; None if all runs of a ranking have the same value, or for a single run.
      Runs with equal values are tied: a pair tied in one ranking counts for neither order, and the
      divisor is the geometric mean of the pairs untied in either.
    - tau_ap: tau-AP of the second ranking with the first as the truth. Errors at the top of the
      second weigh more. None if two runs of a ranking are tied, because it is not defined for ties,
      or for a single run.
    - swaps: the pairs of runs whose first is better in the first ranking and worse in the second.
    """

    runs: int
    tau: float | None
    tau_ap: float | None
    swaps: tuple[tuple[str, str], ...]


def ranking_effects(first: pl.DataFrame, second: pl.DataFrame) -> dict[str, RankingEffect]:
    """Return the effect of other judgments on each measure, in the order of the first scores.

    Scores have the columns run (String), measure and value, with one row for each run and measure:
    the means over topics by either judgments. Runs and measures that are only in one of the frames
    are left out, and larger values are better. Values are compared as they are.
    """
    both = first.join(second, on=["run", "measure"], maintain_order="left")
    return {
        str(measure): _effect(rows)
        for (measure,), rows in both.group_by("measure", maintain_order=True)
    }


def _effect(rows: pl.DataFrame) -> RankingEffect:
    runs = rows["run"].to_list()
    before, after = rows["value"].to_numpy(), rows["value_right"].to_numpy()
    # +1 where the run of the row is better than that of the column, 0 for ties.
    signs_before, signs_after = (
        np.sign(values[:, None] - values[None, :]) for values in (before, after)
    )
    untied = float(np.abs(signs_before).sum() * np.abs(signs_after).sum())
    swapped = sorted(
        np.argwhere((signs_before > 0) & (signs_after < 0)).tolist(),
        key=lambda pair: -before[pair[0]],
    )
    return RankingEffect(
        runs=len(runs),
        tau=float((signs_before * signs_after).sum() / np.sqrt(untied)) if untied else None,
        tau_ap=_tau_ap(signs_before, after),
        swaps=tuple((runs[better], runs[worse]) for better, worse in swapped),
    )


def _tau_ap(signs: NDArray[np.int8], after: Reals) -> float | None:
    """Return tau-AP: the mean correctness above each run of the second ranking but the best."""
    size = len(after)
    ties = (signs == 0).sum() - size
    if size < 2 or ties or len(np.unique(after)) < size:
        return None
    order = np.argsort(-after)
    correct = np.triu(signs[np.ix_(order, order)] > 0).sum(axis=0)
    return float(2 * (correct[1:] / np.arange(1, size)).mean() - 1)
