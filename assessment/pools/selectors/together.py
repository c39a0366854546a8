"""Which tasks are judged in one pool: Task 3's answers may be mixed into the pool of Task 1."""

from __future__ import annotations

from typing import NamedTuple

from arqlab.core.models import Task
from assessment.models import Pool
from assessment.qrels.selectors.drafts import host_of, own_pools_task


class PooledTogether(NamedTuple):
    """The task that a task is, or will be, judged with, and a sentence about it for organizers.

    `code` is empty or that of a refusal: `mixed-pool` if the task can have no pool of its own,
    `own-pool` if its pool cannot include the answers of the other task.
    """

    other: Task
    sentence: str
    code: str = ""


def pooled_together(task: Task) -> PooledTogether | None:
    """Return the task that a task is judged with, or None.

    The protocol of Task 1 decides as long as no pool has the answers of Task 3.
    """
    if task.kind == Task.Kind.GENERATED_ANSWERS:
        return _host(task)
    return _guest(task) if task.kind == Task.Kind.ANSWERS else None


def _host(task: Task) -> PooledTogether | None:
    if host := host_of(task):
        sentence = (
            f"The answers are in the pool of {host.name}. For late answers, freeze a supplement "
            "to that pool."
        )
        return PooledTogether(host, sentence, "mixed-pool")
    if Pool.official.filter(task=task).exists():
        return None
    hosts = Task.objects.filter(lab=task.lab_id, kind=Task.Kind.ANSWERS).select_related("lab")
    for one in hosts:
        if one.protocol.pool.includes_generated_answers:
            sentence = (
                f"The protocol mixes these answers into the pool of {one.name}. Plan that pool. "
                "Once it is frozen with them, this task can have no pool of its own."
            )
            return PooledTogether(one, sentence)
    return None


def _guest(task: Task) -> PooledTogether | None:
    if own := own_pools_task(task):
        sentence = (
            f"The answers of {own.name} are in a pool of that task. Leave them out of this pool, "
            "or unfreeze that pool while it has no judgments."
        )
        return PooledTogether(own, sentence, "own-pool")
    guests = Task.objects.filter(lab=task.lab_id, kind=Task.Kind.GENERATED_ANSWERS)
    for one in guests.select_related("lab"):
        if host_of(one) == task:
            return PooledTogether(one, f"The pool of this task has the answers of {one.name}.")
        if task.protocol.pool.includes_generated_answers:
            sentence = (
                f"The protocol mixes the answers of {one.name} into the pool of this task. Once "
                "it is frozen with them, that task can have no pool of its own."
            )
            return PooledTogether(one, sentence)
    return None
