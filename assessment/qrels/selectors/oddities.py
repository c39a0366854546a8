"""Oddities of the judging of a task, which organizers check before a ceremony."""

from datetime import datetime

from django.urls import reverse

from arqlab.core.models import Task
from arqlab.labs.oddities import Oddity, named_oddity, submission_oddities
from arqlab.web import counted, task_url
from assessment.models import Pool, Ticket
from assessment.qrels.selectors.drafts import LabelSource, draft_topics
from submissions.models import Run
from submissions.oddities import run_oddities


def judging_oddities(task: Task) -> list[Oddity]:
    """Return the checks for half-judged topics and open tickets."""
    return [_half_judged(task), _open_tickets(task)]


def freeze_oddities(task: Task, *, at: datetime) -> list[Oddity]:
    """Return the checks before the qrels of a task are frozen."""
    return [
        *submission_oddities(task, at=at),
        *_pool_oddities(task),
        *judging_oddities(task),
        *run_oddities(task),
    ]


def _pool_oddities(task: Task) -> list[Oddity]:
    """Return the checks for pools that accept judgments, and for valid runs that are in no pool."""
    pools = list(Pool.official.filter(task=LabelSource(task).judged_in))
    accepting = sum(pool.closed_at is None for pool in pools)
    sentence = f"{counted(accepting, 'pool accepts', 'pools accept')} judgments."
    url = task_url("assessment:pool-list", task)
    pooled = {run["run"] for pool in pools for run in pool.runs}
    runs = Run.objects.valid().filter(task=task).exclude(pk__in=pooled).select_related("team")
    names = [str(run) for run in runs.order_by("team__name", "tag")]
    things = ("valid run is in no pool", "valid runs are in no pool")
    return [
        Oddity(sentence, accepting, url, "All pools are closed."),
        named_oddity(names, things, url, "All valid runs are in a pool."),
    ]


def _half_judged(task: Task) -> Oddity:
    half = {
        one.topic: f"{one.topic} ({one.labelled:,} of {one.total:,} labels)"
        for one in draft_topics(task).topics
        if one.labelled < one.total
    }
    return named_oddity(
        list(half.values()),
        ("topic is not fully judged", "topics are not fully judged"),
        task_url("assessment:assignment-list", task),
        "All topics are fully judged.",
        is_red=True,
        leave_out={f"topics-{topic}": "Not fully judged." for topic in half},
    )


def _open_tickets(task: Task) -> Oddity:
    instances = LabelSource(task).instances().values("pk")
    count = Ticket.objects.filter(judgment__instance__in=instances, answered_at=None).count()
    sentence = f"{counted(count, 'ticket is', 'tickets are')} open."
    url = reverse("assessment:ticket-list", args=[task.lab.slug])
    return Oddity(sentence, count, url, "No ticket is open.")
