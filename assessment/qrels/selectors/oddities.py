"""Oddities of the judging of a task, which organizers check before a ceremony."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Count
from django.urls import reverse

from arqkit.topics import natural_key
from arqlab.core.models import Task
from arqlab.core.oddities import Oddity, counted, name_list, submission_oddities, task_url
from assessment.models import Pool, Ticket
from assessment.qrels.selectors.drafts import host_of, own_instances, with_current
from submissions.models import Run
from submissions.oddities import run_oddities


def judging_oddities(task: Task) -> list[Oddity]:
    """Return the oddities: half-judged topics with counts, and open tickets."""
    return [*_half_judged(task), *_open_tickets(task)]


def freeze_oddities(task: Task, *, at: datetime) -> list[Oddity]:
    """Return what is odd about freezing the qrels of a task."""
    return [
        *submission_oddities(task, at=at),
        *_pool_oddities(task),
        *judging_oddities(task),
        *run_oddities(task),
    ]


def _pool_oddities(task: Task) -> list[Oddity]:
    """Return the pools that still accept judgments, and the valid runs that are in no pool."""
    oddities, pools = [], list(Pool.official.filter(task=host_of(task) or task))
    accepting = sum(pool.closed_at is None for pool in pools)
    url = task_url("assessment:pool-list", task)
    if accepting:
        sentence = f"{counted(accepting, 'pool accepts', 'pools accept')} judgments."
        oddities.append(Oddity(sentence, accepting, url))
    pooled = {run["run"] for pool in pools for run in pool.runs}
    runs = Run.objects.valid().filter(task=task).exclude(pk__in=pooled).select_related("team")
    names = [str(run) for run in runs.order_by("team__name", "tag")]
    if names:
        runs_are = counted(len(names), "valid run is", "valid runs are")
        oddities.append(Oddity(f"{runs_are} in no pool: {name_list(names)}.", len(names), url))
    return oddities


def _half_judged(task: Task) -> list[Oddity]:
    topics = with_current(own_instances(task)).values_list("item__topic__query_id")
    counts = topics.annotate(labelled=Count("current"), total=Count("pk"))
    half = [
        f"{topic} ({labelled:,} of {total:,} labels)"
        for topic, labelled, total in sorted(counts, key=lambda row: natural_key(row[0]))
        if labelled < total
    ]
    if not half:
        return []
    topics_are = counted(len(half), "topic is", "topics are")
    sentence = f"{topics_are} not fully judged: {name_list(half)}."
    return [Oddity(sentence, len(half), task_url("assessment:assignment-list", task))]


def _open_tickets(task: Task) -> list[Oddity]:
    instances = own_instances(task).values("pk")
    count = Ticket.objects.filter(judgment__instance__in=instances, answered_at=None).count()
    if not count:
        return []
    sentence = f"{counted(count, 'ticket is', 'tickets are')} open."
    return [Oddity(sentence, count, reverse("assessment:ticket-list", args=[task.lab.slug]))]
