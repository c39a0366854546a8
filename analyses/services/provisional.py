"""The leaderboard by the labels so far, while judging is in progress."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
import polars as pl

from analyses.services.contests import contest_of, contest_scores
from arqkit.comparison.correlation import top_stability
from arqkit.judgments.qrels import JudgedTopic
from arqkit.measures.names import Measure
from arqlab.core.caches import recent_value
from arqlab.core.models import Task
from assessment.qrels.selectors.drafts import draft_topics
from evaluation.services.scoring import scoring_work

TOP = 5
"""The ranks at the top of the leaderboard whose runs may still change."""
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
    - as_of: the time of these labels if others have followed.
    """

    measure: Measure | None
    topics: Sequence[JudgedTopic]
    finished: int
    is_computed: bool
    as_of: datetime | None
    same: float | None
    rows: list[ProvisionalRun]


class DraftScores(NamedTuple):
    """The topics of a draft, the measures, and the scores of runs: run, topic, measure and value.

    `scores` is None if they are not computed. `as_of` is the time of their labels if others have
    followed.
    """

    topics: list[JudgedTopic]
    measures: Sequence[Measure]
    scores: pl.DataFrame | None
    as_of: datetime | None


def provisional_scores(task: Task, *, computes: bool) -> ProvisionalBoard:
    """Return the leaderboard by the current labels; compute missing scores only if asked."""
    topics, measures, scores, as_of = draft_scores(task, computes=computes)
    finished = {topic.topic for topic in topics if topic.labelled == topic.total}
    is_computed = scores is not None
    board = ProvisionalBoard(
        next(iter(measures), None), topics, len(finished), is_computed, as_of, None, []
    )
    if scores is None or board.measure is None:
        return board
    main = scores.filter(pl.col("measure") == board.measure.name)
    if main.is_empty():
        return board
    wide = main.pivot("topic", index="run", values="value").sort("run")
    matrix = wide.drop("run").cast(pl.Float64).to_numpy()
    scored = wide.columns[1:]
    marks = np.array([topic in finished for topic in scored])
    waiting = {topic.topic for topic in topics} - finished - set(scored)
    stable = top_stability(matrix, marks, unscored=len(waiting), top=TOP, seed=SEED)
    means = np.nanmean(matrix, axis=1).tolist()
    rows = map(ProvisionalRun, wide["run"].to_list(), means, stable.by_run.tolist())
    ordered = sorted(rows, key=lambda row: -row.mean)
    return board._replace(same=stable.same, rows=ordered)


def draft_scores(task: Task, *, computes: bool) -> DraftScores:
    """Return the scores of all runs against a task's draft; compute missing ones only if asked."""
    contest, draft = contest_of(task, adds=True), draft_topics(task)

    def compute() -> pl.DataFrame:
        qrels = contest.qrels(contest.draft.judged)
        return contest_scores(contest, {"first": qrels}).drop("side")

    scores = recent_value(
        contest.key("draft-scores"),
        (draft.digest, draft.dropped),
        compute if computes else None,
        work=scoring_work(contest.runs),
    )
    as_of = scores.as_of or draft.as_of
    return DraftScores(draft.topics, contest.measures, scores.value, as_of)
