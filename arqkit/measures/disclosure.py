"""What means of runs may reveal of labels that are not released (protocol §7).

A mean is a question about labels: three runs that answer one topic, with six items in three orders,
would tell the labels of all six. So a mean is shown in coarse steps, only of runs that have judged
items in nearly all topics, and once for the same items: another order, tag, team or account has the
same answer.
"""

from collections.abc import Sequence
from math import log2

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.measures.names import Measure

STEPS = (0.05, 0.1, 0.2, 0.5)
"""The steps that are tried, the finest first."""
TOPICS_A_STEP = 5
"""The topics that it takes from 0 to 1 to move a mean by a step. What fewer than half as many
topics have shows as 0."""
LABELS_A_BIT = 10
"""The labels for each bit that all means of a team could tell, were they drawn evenly."""
MOST_MISSING = 0.1
"""The share of topics that a run may leave out."""
SAME = 0.9
"""The share of the judged items of two runs that both have, from which they are the same items."""
FROM_0_TO_1 = (
    *("nDCG", "AP", "P", "R", "RR", "Rprec", "Bpref", "Success", "ERR", "infAP", "RBP", "IPrec"),
    *("SetP", "SetR", "SetF", "SetAP", "Compat", "OneNN", "RankingScore", "LO", "CS"),
)
"""The kinds of measures whose steps are known; AR is from 0 to the highest label."""

Items = NDArray[np.uint64]
"""The judged items of a run in all topics: a number for each, which rise."""


def step_of(*, topics: int, labels: int, means: int) -> float | None:
    """Return the step in which `means` of a team are shown, or None if none may be shown."""
    steps = (
        step
        for step in STEPS
        if step * topics >= TOPICS_A_STEP and means * log2(1 / step + 1) * LABELS_A_BIT <= labels
    )
    return next(steps, None)


def shown_means(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that are shown: those that rate runs and whose range is known."""
    kinds = (*FROM_0_TO_1, "AR")
    return [measure for measure in measures if measure.is_rating and measure.kind in kinds]


def shown_mean(value: float, measure: Measure, *, step: float, highest: int) -> float:
    """Return a mean in whole steps; those of AR are as many, from 0 to the highest label."""
    size = step * highest if measure.kind == "AR" else step
    return round(round(value / size) * size, 3)


def has_enough_topics(items: pl.DataFrame, judged: pl.DataFrame) -> bool:
    """Return whether a run (topic, item) has judged items in nearly all topics of the qrels."""
    answered = items.join(judged, on=["topic", "item"], how="semi")["topic"].n_unique()
    return answered >= (1 - MOST_MISSING) * judged["topic"].n_unique()


def item_numbers(items: pl.DataFrame, judged: pl.DataFrame) -> Items:
    """Return the judged items of a run (topic, item), whatever their order."""
    judged_items = items.join(judged, on=["topic", "item"], how="semi")
    numbers = judged_items.select(pl.struct("topic", "item").hash(seed=7))
    return np.unique(numbers.to_series().to_numpy())


def first_with_items(runs: Sequence[Items]) -> list[int]:
    """Return for each run the place of the first one with the same items, which may be its own."""
    firsts: list[int] = []
    places = []
    for place, items in enumerate(runs):
        same = (first for first in firsts if _are_same(runs[first], items))
        places.append(next(same, place))
        if places[-1] == place:
            firsts.append(place)
    return places


def _are_same(one: Items, other: Items) -> bool:
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common >= SAME * (len(one) + len(other) - common)
