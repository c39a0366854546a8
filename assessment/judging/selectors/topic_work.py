"""What an assessor did in a topic: how many items with which labels and in which time, and what
comes after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from arqlab.core.models import Topic, User
from arqlab.ir.judgments.qrels import labels_in_order
from assessment.judging.selectors.progress import assigned_topics, own_judgments, progress_of
from assessment.models import Judgment, PoolItem


class TopicWork(NamedTuple):
    """A topic's items, and what one assessor did of them: items judged, labels with their counts,
    active time.
    """

    total: int
    done: int
    judged: int
    labels: tuple[tuple[int, int], ...]
    timed_items: int
    active_ms: int

    @property
    def seconds_each(self) -> int:
        """Return the mean active time of an item in seconds; 0 where none was timed."""
        return round(self.active_ms / self.timed_items / 1000) if self.timed_items else 0

    @property
    def seconds_left(self) -> int:
        """Return what the items without a label take at that pace."""
        return (
            round(self.active_ms / 1000 * (self.total - self.done) / self.timed_items)
            if self.timed_items
            else 0
        )


def work_on(topic: Topic, user: User) -> TopicWork:
    """Sum up an assessor's judgments of a topic that count."""
    own, progress = own_judgments(topic.pk, user.pk).order_by(), progress_of(topic.pk)
    sums = own.aggregate(
        judged=Count("instance__item", distinct=True),
        timed=Count("instance__item", distinct=True, filter=Q(active_ms__isnull=False)),
        time=Sum("active_ms", default=0),
    )
    counts = dict(own.values_list("label").annotate(count=Count("pk")))
    return TopicWork(
        total=progress.total,
        done=progress.done,
        judged=sums["judged"],
        labels=tuple(
            (label, counts.get(label, 0)) for label in labels_in_order(topic.task.protocol.labels)
        ),
        timed_items=sums["timed"],
        active_ms=sums["time"],
    )


def next_topic(topic: Topic, user: User) -> Topic | None:
    """Return the assessor's next topic of the lab that has items without a label: the same task's
    first, those after this one before those before it."""
    waiting = PoolItem.objects.filter(topic=OuterRef("pk"), pool__closed_at=None, done_at=None)
    found = (
        assigned_topics(user).filter(Exists(waiting), task__lab=topic.task.lab).exclude(pk=topic.pk)
    )
    return min(
        found.select_related("task").only("query_id", "position", "task__name", "task__slug"),
        key=lambda each: (
            each.task_id != topic.task_id,
            each.position < topic.position,
            each.position,
        ),
        default=None,
    )


def judged_rows(topic: Topic, user: User, *, chosen: Mapping[str, str]) -> QuerySet[Judgment]:
    """Return an assessor's judgments of a topic that count, the newest first; `chosen` may name a
    label, `commented` or `changed`.
    """
    own = own_judgments(topic.pk, user.pk).select_related("supersedes")
    found = own.order_by("-judged_at", "-pk")
    label = chosen.get("label", "")
    wanted = (
        Q(label=int(label))
        if label in map(str, labels_in_order(topic.task.protocol.labels))
        else Q()
    )
    if chosen.get("only") == "commented":
        wanted &= ~Q(comment="")
    if chosen.get("only") == "changed":
        wanted &= Q(supersedes__isnull=False)
    return found.filter(wanted)
