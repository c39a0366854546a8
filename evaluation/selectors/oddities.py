"""Oddities of a leaderboard, which organizers check before they release it."""

from datetime import datetime

import polars as pl
from django.db.models import Max

from arqlab.labs.oddities import Oddity, named_oddity, submission_oddities
from arqlab.web import task_url
from assessment.models import QrelSet
from assessment.qrels.selectors.joining import join_warnings
from assessment.qrels.selectors.oddities import judging_oddities
from assessment.qrels.selectors.versions import judged_frame
from collection.selectors.collections import scan_columns
from evaluation.models import RunScore
from evaluation.selectors.pending_scores import unscored_runs
from evaluation.selectors.references import missing_model
from submissions.models import Run
from submissions.oddities import run_oddities
from submissions.selectors import run_items


def release_oddities(qrel_set: QrelSet, *, at: datetime) -> list[Oddity]:
    """Return what is odd about releasing the board of these qrels."""
    task, name = qrel_set.task, qrel_set.name
    warnings = len(join_warnings(qrel_set))
    barred = [str(run) for run, reason in unscored_runs(qrel_set, ()) if reason]
    cannot, none = (
        f"cannot be scored against the qrels {name}",
        f"no item that the qrels {name} judge",
    )
    unscorable = (f"valid run {cannot}", f"valid runs {cannot}")
    unjudged = (f"run has {none}", f"runs have {none}")
    board = f"{task_url('evaluation:leaderboard', task)}?live=1&qrels={name}"
    return [
        *submission_oddities(task, at=at),
        Oddity(
            f"The qrels {name} are not the current version.",
            int(not qrel_set.is_current),
            task_url("assessment:qrels-list", task),
            f"The qrels {name} are the current version.",
        ),
        Oddity(
            f"Topics or items of the qrels {name} join nothing of the lab.",
            warnings,
            task_url("assessment:qrels-detail", task, qrel_set.version),
            f"All topics and items of the qrels {name} join those of the lab.",
            is_red=True,
        ),
        named_oddity(barred, unscorable, board, "All valid runs can be scored.", is_red=True),
        Oddity(
            missing_model(task),
            int(bool(missing_model(task))),
            task_url("labs:task-edit", task),
            "All measures of the task can be computed.",
        ),
        named_oddity(_without_judged(qrel_set), unjudged, board, "All runs have judged items."),
        *run_oddities(task),
        *judging_oddities(task),
    ]


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
