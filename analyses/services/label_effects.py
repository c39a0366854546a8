"""How much other labels of disputed items would change the leaderboard."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from analyses.services.contests import Contest, contest_of
from arqkit.labels import LabelScale
from arqkit.measures.names import Measure
from arqlab.core.caches import cached_value
from arqlab.core.models import Task
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.adjudication import DECIDED, disagreement_queue
from evaluation.services.scoring import comparable_indexes, scorer_of, scoring_work

MOST_CHANGES = 1000
"""The number of changed labels whose effect is computed at a time."""


@dataclass(frozen=True, kw_only=True)
class AdjudicationQueue:
    """The instances whose official and second labels differ: `count`, some of them `decided`.

    - rows: as of `disagreement_queue`, and the effect, which is null unless asked for.
    - most, measure: how many labels' effects are computed, and by which measure.
    """

    rows: pl.DataFrame
    scale: LabelScale
    count: int
    decided: int
    by_effect: bool
    most: int
    measure: Measure | None


def adjudication_queue(task: Task, *, by_effect: bool) -> AdjudicationQueue:
    """Return the instances to adjudicate in a task, if asked with the effects of their labels."""
    rows = disagreement_queue(task)
    rows = _with_effects(task, rows) if by_effect else rows.with_columns(effect=None)
    return AdjudicationQueue(
        rows=rows,
        scale=task_scale(task),
        count=rows.height,
        decided=rows.filter(pl.col("state") == DECIDED).height,
        by_effect=by_effect,
        most=MOST_CHANGES,
        measure=main_measure(task),
    )


def _with_effects(task: Task, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the queue with the effect of the second labels of what is not decided."""
    changes = (
        rows.filter(pl.col("state") != DECIDED)
        .select("instance", "topic", "doc_id", "first", label="seconds")
        .explode("label")
        .filter(pl.col("label") != pl.col("first"))
        .unique(maintain_order=True)
    )
    effects = label_effects(task, changes.drop("first"))
    values = [effects.get(instance) for instance in rows["instance"]]
    return rows.with_columns(effect=pl.Series(values, dtype=pl.Float64))


def label_effects(task: Task, changes: pl.DataFrame) -> Mapping[int, float]:
    """Return how much other labels would change the leaderboard, by official instance.

    `changes` has the columns instance, topic, doc_id and label, one row for each other label. The
    effect is the largest change of the mean of a run in the main measure, over the labels of an
    instance and the runs. Only the first `MOST_CHANGES` rows are computed.
    """
    contest, some = contest_of(task, adds=False), changes.head(MOST_CHANGES)
    names = pl.format("{}\t{}", "topic", pl.int_range(pl.len()))
    some = some.with_columns(name=names)
    base = contest.qrels(contest.draft.judged)
    some = some.filter(pl.col("topic").is_in(base["topic"].unique().to_list()))
    if some.is_empty() or not contest.measures:
        return {}
    altered = some.select("topic", "name", other_id="doc_id", other="label").join(
        contest.draft.judged, on="topic"
    )
    changed = pl.when(pl.col("doc_id") == pl.col("other_id")).then("other").otherwise("label")
    judged = altered.select(topic="name", item="item", doc_id="doc_id", label=changed)
    qrels = pl.concat([base, contest.qrels(judged, with_dropped=True)])
    key = contest.key("label-effects", qrels)
    copies = some.select("topic", "name")
    work = scoring_work(contest.runs, times=2)
    effects = cached_value(key, lambda: _largest_changes(contest, qrels, copies), work=work)
    effect_of: dict[int, float] = {}
    for instance, name in some.select("instance", "name").iter_rows():
        effect_of[instance] = max(effect_of.get(instance, 0.0), effects.get(name, 0.0))
    return effect_of


def main_measure(task: Task) -> Measure | None:
    """Return the measure by which `label_effects` compares runs."""
    return next(iter(contest_of(task, adds=False).measures), None)


def _largest_changes(
    contest: Contest, qrels: pl.DataFrame, copies: pl.DataFrame
) -> dict[str, float]:
    """Return the largest change of a run's mean for each copy of a topic (topic, name)."""
    measure = contest.measures[0]
    scorer = scorer_of(contest.like, qrels, [measure])
    largest: dict[str, float] = {}
    for _, index in comparable_indexes(contest.runs, contest.like, qrels):
        copied = index.join(copies, on="topic").with_columns(topic="name").select(index.columns)
        scored = scorer.score(pl.concat([index, copied])).select("topic", "value")
        topics = scored.join(copies.select(topic="name"), on="topic", how="anti")
        both = copies.join(topics, on="topic").join(
            scored.rename({"value": "other"}), left_on="name", right_on="topic"
        )
        change = ((pl.col("other") - pl.col("value")).abs() / topics.height).alias("change")
        for name, value in both.select("name", change).iter_rows():
            largest[name] = max(largest.get(name, 0.0), value)
    return largest
