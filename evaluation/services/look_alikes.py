"""Runs that look alike: nearly the same as a run of another team, or as the qrels.

Nothing is stored. What is read from the indexes is cached by their names, which never change.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from hashlib import sha256
from itertools import combinations
from typing import NamedTuple

import polars as pl

from arqlab.core.caches import computed_values
from arqlab.core.models import Task
from arqlab.ir.comparison.look_alikes import mean_jaccards
from arqlab.ir.polars_errors import EngineFailedError, panics_as_errors
from arqlab.ir.ranking import OrderBy
from arqlab.ir.records import ItemKind, TaskKind
from assessment.qrels.selectors.versions import qrels_named
from evaluation.selectors.boards import live_scores, qrels_facts
from evaluation.selectors.pending_scores import measures_of
from submissions.models import Run
from submissions.selectors import ordered_index, run_items

log = logging.getLogger(__name__)
CUTOFFS = (10, 100)
ALIKE = 0.8
"""The lowest mean Jaccard coefficient, at either cutoff, of runs that look alike."""
REPLAY = 0.9
"""The lowest share of the best possible main measure of a run that may replay the qrels."""
KEPT = 7 * 24 * 60 * 60  # seconds


class LookAlike(NamedTuple):
    """Two runs of different teams, the earlier one first, and their similarity at each cutoff."""

    first: Run
    second: Run
    similarity: tuple[float, ...]


class Replay(NamedTuple):
    """A run with its main measure, as a value and as a share of the best possible value."""

    run: Run
    value: float
    share: float


def look_alikes(task: Task) -> list[LookAlike]:
    """Return the pairs of runs of different teams whose first items are nearly the same.

    The most similar come first. Runs with different types of items are not compared, nor are the
    answers of Task 3, which have no ids in common.
    """
    if task.kind == TaskKind.GENERATED_ANSWERS:
        return []
    found = Run.objects.scorable().filter(task=task).select_related("team", "upload", "task__lab")
    by_items: dict[ItemKind, list[Run]] = {}
    for run in found.order_by("submitted_at", "pk"):
        by_items.setdefault(run_items(run, task), []).append(run)
    pairs = [
        LookAlike(runs[one], runs[other], similarity)
        for runs in by_items.values()
        for one, other, similarity in _alike(runs, task)
        if runs[one].team_id != runs[other].team_id
    ]
    return sorted(pairs, key=lambda pair: (-max(pair.similarity), -sum(pair.similarity)))


def replays(task: Task) -> list[Replay]:
    """Return the runs whose main measure is close to the best possible by the current qrels.

    No system has come near it: the best official runs of ARQMath reach about two thirds. Such a run
    was probably made from the qrels. The best come first.
    """
    qrel_set = qrels_named(task)
    if qrel_set is None:
        return []
    main = measures_of(qrel_set)[0]
    best = qrels_facts(qrel_set, [main]).ceilings.get(main.name) or 0.0
    runs = Run.objects.scorable().filter(task=task).select_related("team")
    scores = live_scores(qrel_set, runs)
    values = [(run, scores.get(run.pk, {}).get(main.name)) for run in runs]
    found = [Replay(run, value, value / best) for run, value in values if value and best]
    return sorted((one for one in found if one.share >= REPLAY), key=lambda one: -one.share)


def _top(run: Run, order: OrderBy) -> pl.DataFrame:
    """Return the first items of a run, or none if its index cannot be read."""
    try:
        with panics_as_errors():
            return ordered_index(run, order=order).filter(pl.col("order") <= CUTOFFS[-1]).collect()
    except (OSError, pl.exceptions.PolarsError, EngineFailedError):
        log.exception("The index of run %s (%s) cannot be read.", run.pk, run.tag)
        return pl.DataFrame(schema={"topic": pl.String, "item": pl.String, "order": pl.Int32})


def _alike(runs: Sequence[Run], task: Task) -> list[tuple[int, int, tuple[float, ...]]]:
    """Return the similar pairs: the places of both runs, and their similarity at each cutoff."""
    order = task.protocol.order
    facts = (CUTOFFS, order, [(run.index.name, run.report.get("order")) for run in runs])
    key = f"look-alikes:{sha256(repr(facts).encode()).hexdigest()}"
    found: list[tuple[int, int, tuple[float, ...]]] | None = computed_values.get(key)
    if found is None:
        tops = [_top(run, order) for run in runs]
        tables = [mean_jaccards(tops, cutoff=cutoff) for cutoff in CUTOFFS]
        found = []
        for one, other in combinations(range(len(runs)), 2):
            similarity = tuple(float(table[one, other]) for table in tables)
            if max(similarity) >= ALIKE:
                found.append((one, other, similarity))
        computed_values.set(key, found, timeout=KEPT)
    return found
