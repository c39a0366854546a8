"""Runs that look like copies of others, or of the qrels. They are kept in the cache."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from arqkit.comparison.look_alikes import POOLED, Likeness, Purity, is_replay, likenesses, purity_of
from arqkit.ranking import OrderBy
from arqkit.records import ItemKind, TaskKind
from arqlab.core.caches import DAY, cached_value, key_of
from arqlab.core.models import Task
from arqlab.jobs.services.jobs import Each, RunningJob
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame, qrels_named
from evaluation.selectors.pending_scores import formulas_index_of
from evaluation.services.scoring import comparable_indexes, scoring_work
from submissions.models import Run
from submissions.selectors import ordered_index, readable, run_items

KEPT = 7 * DAY
"""Seconds."""


class LookAlike(NamedTuple):
    """Two runs of different teams, the earlier one first, and the topics that are alike."""

    first: Run
    second: Run
    likeness: Likeness


class Replay(NamedTuple):
    """A run and the topics in which it replays the qrels."""

    run: Run
    purity: Purity


def find_look_alikes(job: RunningJob) -> list[str]:
    """Compute the look-alikes and the replays of the job's task. Return how many there are."""
    pairs, replaying = (
        look_alikes(job.task, computes=True, each=job.each),
        replays(job.task, computes=True),
    )
    return [f"{len(pairs or ())} pairs of runs look alike; {len(replaying or ())} replay qrels."]


def look_alikes(
    task: Task, *, computes: bool = False, each: Each[Run] = iter
) -> list[LookAlike] | None:
    """Return the pairs of runs of different teams that are copies in many topics, most first.

    If they have not been computed, return None, or compute them if asked. Runs with different types
    of items are not compared, nor are the answers of Task 3, which have no ids in common.
    `each` yields the runs as they are read.
    """
    if task.kind == TaskKind.GENERATED_ANSWERS:
        return []
    by_items: dict[ItemKind, list[Run]] = {}
    for run in _runs(task):
        by_items.setdefault(run_items(run, task), []).append(run)
    compared = [
        (runs, _likenesses(runs, task, each if computes else None)) for runs in by_items.values()
    ]
    if any(alike is None for _, alike in compared):
        return None
    pairs = [
        LookAlike(runs[likeness.first], runs[likeness.second], likeness)
        for runs, alike in compared
        for likeness in alike or ()
        if runs[likeness.first].team_id != runs[likeness.second].team_id
    ]
    return sorted(pairs, key=lambda pair: -len(pair.likeness.copied))


def replays(task: Task, *, computes: bool = False) -> list[Replay] | None:
    """Return the runs that in many topics list the relevant items of the current qrels first.

    If they have not been computed, return None, or compute them if asked. No system comes near it.
    """
    qrel_set = qrels_named(task)
    if qrel_set is None:
        return []
    runs, order = _runs(task), task.protocol.order
    facts = (order, qrel_set.sha256, qrel_set.relevant_from, formulas_index_of(qrel_set))
    names = [(run.pk, run.index.name) for run in runs]
    compute = (lambda: _purities(runs, qrel_set)) if computes or not runs else None
    work = scoring_work(runs)
    purities = cached_value(key_of("replays", facts, names), compute, work=work, seconds=KEPT)
    if purities is None:
        return None
    replaying = [Replay(run, purities[run.pk]) for run in runs if run.pk in purities]
    return sorted(replaying, key=lambda replay: -len(replay.purity.pure))


def _runs(task: Task) -> list[Run]:
    runs = Run.objects.scorable().filter(task=task).select_related("team", "upload", "task__lab")
    return list(runs.order_by("submitted_at", "pk"))


def _likenesses(runs: Sequence[Run], task: Task, each: Each[Run] | None) -> list[Likeness] | None:
    order, depth = task.protocol.order, task.protocol.pool.primary or POOLED
    names = [(run.index.name, run.report.get("order")) for run in runs]
    compute = (
        (lambda: likenesses([_ranking(run, order) for run in each(runs)], depth=depth))
        if each
        else None
    )
    work = scoring_work(runs, times=3)
    return cached_value(
        key_of("look-alikes", order, depth, names), compute, work=work, seconds=KEPT
    )


def _ranking(run: Run, order: OrderBy) -> pl.DataFrame:
    """Return the ranking of a run, without rows if its index cannot be read."""
    index = readable(run, lambda: ordered_index(run, order=order).collect())
    schema = {"topic": pl.String, "item": pl.String, "order": pl.Int32}
    return pl.DataFrame(schema=schema) if index is None else index


def _purities(runs: Sequence[Run], qrel_set: QrelSet) -> dict[int, Purity]:
    """Return the topics in which runs replay the qrels, of the runs that do."""
    judged = judged_frame(qrel_set).drop_nulls("label")
    purities = {}
    for run, index in comparable_indexes(runs, qrel_set, judged):
        ranking = index.with_columns(order=pl.int_range(pl.len()).over("topic"))
        purity = purity_of(ranking, judged, relevant_from=qrel_set.relevant_from)
        if is_replay(purity):
            purities[run.pk] = purity
    return purities
