"""Whether a task knows the items of a run from elsewhere, if its lab has no collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from arqkit.records import ItemKind
from arqlab.core.models import Task
from collection.selectors.collections import scan_columns
from submissions.models import Run
from submissions.selectors import run_items

Source = Callable[[Task, ItemKind], Iterator[pl.Series]]

JUDGED: list[Source] = []
"""Sources of judged items, which upper apps add (`assessment.apps`)."""


def knows_any(run: Run, items: ItemKind, ids: pl.Series) -> bool | None:
    """Return whether the task knows any of the ids of a run, or None without anything to compare.

    The answer is about the whole run and names no id. It compares with the runs of other teams, and
    with judged items only for submissions, which are few: a file that is only checked could ask
    about one item after the other, and so could a team that submits and withdraws.
    """
    if items is ItemKind.ANSWERS:  # written by the run, so no other run has them
        return None
    is_compared = False
    for known in _known_items(run, items):
        is_compared = True
        if ids.is_in(known.implode()).any():
            return True
    return False if is_compared else None


def _known_items(run: Run, items: ItemKind) -> Iterator[pl.Series]:
    sent = Run.objects.submitted().filter(task=run.task_id, team=run.team_id).count()
    if not run.check_only and sent <= 2 * run.task.protocol.quota:
        for source in JUDGED:
            yield from source(run.task, items)
    others = Run.objects.scorable().filter(task=run.task_id).exclude(team=run.team_id)
    for other in others.order_by("pk"):
        if run_items(other, run.task) == items:
            yield scan_columns(other.index).select(pl.col("item").unique()).collect()["item"]
