"""The leaderboard by the labels so far, while the judging goes on. Nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from arqkit.comparison.correlation import top_stability
from arqkit.judgments.qrels import JudgedTopic
from arqkit.measures.names import Measure
from arqlab.core.models import Task
from evaluation.services.effects import draft_scores

TOP = 5
SEED = 1


class ProvisionalRun(NamedTuple):
    """A run (team and tag) with its mean, and the probability that it ends in the top five."""

    run: str
    mean: float
    probability: float


class ProvisionalBoard(NamedTuple):
    """The runs by their means over the topics of the draft, the best first.

    - topics: the progress of all topics in the pools.
    - finished: the number of topics that are fully judged.
    - same: the probability that the top five stay; None if no run has scores.
    - is_computed: whether the scores by the current labels are there.
    """

    measure: Measure | None
    topics: Sequence[JudgedTopic]
    finished: int
    is_computed: bool
    same: float | None
    rows: list[ProvisionalRun]


def provisional_scores(task: Task, *, computes: bool) -> ProvisionalBoard:
    """Return the leaderboard by the current labels; compute missing scores only if asked."""
    draft, measures, scores = draft_scores(task, computes=computes)
    finished = {one.topic for one in draft.topics if one.labelled == one.total}
    found = ProvisionalBoard(
        next(iter(measures), None), draft.topics, len(finished), scores is not None, None, []
    )
    if scores is None or found.measure is None:
        return found
    main = scores.filter(pl.col("measure") == found.measure.name)
    if main.is_empty():
        return found
    wide = main.pivot("topic", index="run", values="value").sort("run")
    matrix = wide.drop("run").cast(pl.Float64).to_numpy()
    scored = wide.columns[1:]
    marks = np.array([topic in finished for topic in scored])
    waiting = {one.topic for one in draft.topics} - finished - set(scored)
    stable = top_stability(matrix, marks, unscored=len(waiting), top=TOP, seed=SEED)
    means = np.nanmean(matrix, axis=1).tolist()
    rows = map(ProvisionalRun, wide["run"].to_list(), means, stable.each.tolist())
    ordered = sorted(rows, key=lambda row: -row.mean)
    return found._replace(same=stable.same, rows=ordered)
