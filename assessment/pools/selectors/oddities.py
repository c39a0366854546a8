"""Oddities of a pool, which organizers check before they freeze it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from arqlab.core.models import Task
from arqlab.core.oddities import Oddity, counted, name_list, submission_oddities, task_url
from assessment.pools.selectors.choices import PoolChoice, mixed_tasks, poolable_runs
from assessment.qrels.selectors.versions import qrels_named
from submissions.oddities import run_oddities


def pool_oddities(task: Task, choice: PoolChoice, *, at: datetime) -> list[Oddity]:
    """Return what is odd about freezing a pool of a task.

    A pool with answers of Task 3 depends on their task too: each oddity then names its task.
    """
    found = {task: [*_task_oddities(task, choice, at=at), *_without_qrels(task, choice)]}
    others = mixed_tasks(task, choice.protocol)
    found |= {other: _task_oddities(other, choice, at=at) for other in others}
    if len(found) == 1:
        return found[task]
    return [
        replace(one, sentence=f"{each.name}: {one.sentence}")
        for each, oddities in found.items()
        for one in oddities
    ]


def _task_oddities(task: Task, choice: PoolChoice, *, at: datetime) -> list[Oddity]:
    """Return the oddities of the submission and of the runs of one task."""
    _, barred = poolable_runs(task)
    names = [str(run) for run, _ in barred if run.pk not in choice.without_runs]
    found = submission_oddities(task, at=at)
    if names:
        runs = counted(len(names), "valid run", "valid runs")
        what = "with visual ids" if task.kind == Task.Kind.FORMULAS else "without texts"
        sentence = f"{runs} {what} cannot be pooled: {name_list(names)}."
        found.append(Oddity(sentence, len(names), task_url("submissions:run-list", task)))
    return [*found, *run_oddities(task)]


def _without_qrels(task: Task, choice: PoolChoice) -> list[Oddity]:
    """Return the task whose relevant posts the pool extends, if none of its qrels is current."""
    if task.kind != Task.Kind.FORMULAS or not choice.protocol.extra_depth:
        return []
    answers = Task.objects.filter(lab=task.lab_id, kind=Task.Kind.ANSWERS).select_related("lab")
    first = answers.first()
    if first is None or qrels_named(first) or not first.qrel_sets.exists():
        return []
    sentence = (
        f"No version of the qrels of {first.name} is current, so its relevant posts are those of "
        "the judgments."
    )
    return [Oddity(sentence, 1, task_url("assessment:qrels-list", first))]
