"""Oddities of the judging of a task, which organizers check before a ceremony."""

from __future__ import annotations

from django.db.models import Count
from django.urls import reverse

from arqlab.core.models import Task
from arqlab.core.oddities import Oddity, counted, name_list, task_url
from arqlab.ir.topics import natural_key
from assessment.models import Ticket
from assessment.qrels.selectors.drafts import own_instances, with_current


def judging_oddities(task: Task) -> list[Oddity]:
    """Return the oddities: half-judged topics with counts, and open tickets."""
    return [*_half_judged(task), *_open_tickets(task)]


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
