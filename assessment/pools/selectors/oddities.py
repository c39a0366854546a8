"""Oddities of a pool, which organizers check before they freeze it."""

from __future__ import annotations

from datetime import datetime

from arqlab.core.models import Task
from arqlab.core.oddities import Oddity, counted, name_list, submission_oddities, task_url
from assessment.pools.selectors.choices import PoolChoice, poolable_runs
from submissions.oddities import run_oddities


def pool_oddities(task: Task, choice: PoolChoice, *, at: datetime) -> list[Oddity]:
    """Return what is odd about freezing a pool of a task."""
    _, barred = poolable_runs(task)
    names = [str(run) for run, _ in barred if run.pk not in choice.without_runs]
    found = submission_oddities(task, at=at)
    if names:
        runs = counted(len(names), "valid run", "valid runs")
        sentence = f"{runs} with visual ids cannot be pooled: {name_list(names)}."
        found.append(Oddity(sentence, len(names), task_url("submissions:run-list", task)))
    return [*found, *run_oddities(task)]
