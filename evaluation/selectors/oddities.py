"""Oddities of a leaderboard, which organizers check before they release it."""

from __future__ import annotations

from datetime import datetime

from django.urls import reverse

from arqlab.core.oddities import Oddity, counted, name_list, submission_oddities, task_url
from assessment.models import QrelSet
from assessment.qrels.selectors.joining import join_warnings
from assessment.qrels.selectors.oddities import judging_oddities
from evaluation.selectors.pending_scores import unscored_runs
from submissions.oddities import run_oddities


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
    found, task = [], qrel_set.task
    if not qrel_set.is_current:
        sentence = f"The qrels {qrel_set.name} are not the current version."
        found.append(Oddity(sentence, 1, task_url("assessment:qrels-list", task)))
    if warnings := join_warnings(qrel_set):
        sentence = f"Topics or items of the qrels {qrel_set.name} join nothing of the lab."
        url = reverse("assessment:qrels-detail", args=[task.lab.slug, task.slug, qrel_set.version])
        found.append(Oddity(sentence, len(warnings), url))
    barred = [str(run) for run, reason in unscored_runs(qrel_set, ()) if reason]
    if barred:
        runs = counted(len(barred), "valid run", "valid runs")
        sentence = (
            f"{runs} cannot be scored against the qrels {qrel_set.name}: {name_list(barred)}."
        )
        url = f"{task_url('evaluation:leaderboard', task)}?live=1&qrels={qrel_set.name}"
        found.append(Oddity(sentence, len(barred), url))
    return found
