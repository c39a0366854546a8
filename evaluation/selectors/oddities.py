"""Oddities of a leaderboard, which organizers check before they release it."""

from __future__ import annotations

from datetime import datetime

import polars as pl
from django.db.models import Max
from django.urls import reverse

from arqlab.core.oddities import Oddity, counted, name_list, submission_oddities, task_url
from assessment.models import QrelSet
from assessment.qrels.selectors.joining import join_warnings
from assessment.qrels.selectors.oddities import judging_oddities
from assessment.qrels.selectors.versions import judged_frame
from collection.selectors.collections import scan_columns
from evaluation.models import RunScore
from evaluation.selectors.pending_scores import unscored_runs
from submissions.models import Run
from submissions.oddities import run_oddities
from submissions.selectors import run_items


def release_oddities(qrel_set: QrelSet, *, at: datetime) -> list[Oddity]:
    """Return what is odd about releasing the board of these qrels."""
    task = qrel_set.task
    return [
        *submission_oddities(task, at=at),
        *_board_oddities(qrel_set),
        *run_oddities(task),
        *judging_oddities(task),
    ]


def _board_oddities(qrel_set: QrelSet) -> list[Oddity]:
    oddities, task = [], qrel_set.task
    if not qrel_set.is_current:
        sentence = f"The qrels {qrel_set.name} are not the current version."
        oddities.append(Oddity(sentence, 1, task_url("assessment:qrels-list", task)))
    if warnings := join_warnings(qrel_set):
        sentence = f"Topics or items of the qrels {qrel_set.name} join nothing of the lab."
        url = reverse("assessment:qrels-detail", args=[task.lab.slug, task.slug, qrel_set.version])
        oddities.append(Oddity(sentence, len(warnings), url))
    barred = [str(run) for run, reason in unscored_runs(qrel_set, ()) if reason]
    if barred:
        runs = counted(len(barred), "valid run", "valid runs")
        sentence = (
            f"{runs} cannot be scored against the qrels {qrel_set.name}: {name_list(barred)}."
        )
        url = f"{task_url('evaluation:leaderboard', task)}?live=1&qrels={qrel_set.name}"
        oddities.append(Oddity(sentence, len(barred), url))
    if unjudged := _without_judged(qrel_set):
        runs = counted(len(unjudged), "run has", "runs have")
        sentence = f"{runs} no item that the qrels {qrel_set.name} judge: {name_list(unjudged)}."
        url = f"{task_url('evaluation:leaderboard', task)}?live=1&qrels={qrel_set.name}"
        oddities.append(Oddity(sentence, len(unjudged), url))
    return oddities


def _without_judged(qrel_set: QrelSet) -> list[str]:
    """Return the valid runs that have no judged item. All their scores are 0."""
    scores = RunScore.objects.filter(qrel_set=qrel_set).values("run").order_by()
    zero = scores.annotate(most=Max("value")).filter(most=0).values("run")
    runs = (
        Run.objects.valid().filter(pk__in=zero).select_related("team").order_by("team__name", "tag")
    )
    alike = [run for run in runs if run_items(run, qrel_set.task) == qrel_set.items]
    judged = judged_frame(qrel_set).drop_nulls().lazy() if alike else pl.LazyFrame()
    return [
        str(run)
        for run in alike
        if scan_columns(run.index)
        .join(judged, on=["topic", "item"], how="semi")
        .limit(1)
        .collect()
        .is_empty()
    ]
