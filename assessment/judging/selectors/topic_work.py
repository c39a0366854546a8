"""An assessor's work on a topic: items judged, labels, time, and the next topic."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from arqkit.labels import LabelScale, ScaleLabel, scale_of_rows
from arqlab.core.models import Task, Topic, User
from assessment.assignments.selectors.left_out import left_out_topics
from assessment.judging.selectors.places import Place
from assessment.judging.selectors.progress import (
    assigned_topics,
    open_items,
    own_judgments,
    progress_of,
    stacked_judgments,
)
from assessment.models import Judgment, PoolItem
from assessment.qrels.selectors.drafts import task_scale


class TopicWork(NamedTuple):
    """The size and scale of a topic, and one assessor's items, label counts and active time."""

    total: int
    done: int
    judged: int
    scale: LabelScale
    labels: tuple[tuple[ScaleLabel, int], ...]
    timed_items: int
    active_ms: int

    @property
    def seconds_each(self) -> int:
        """Return the mean active seconds per item; 0 if no item was timed."""
        return round(self.active_ms / self.timed_items / 1000) if self.timed_items else 0

    @property
    def seconds_left(self) -> int:
        """Return the expected seconds for the unlabelled items at that pace."""
        unlabelled = self.total - self.done
        return (
            round(self.active_ms * unlabelled / self.timed_items / 1000) if self.timed_items else 0
        )


def work_on(place: Place, user: User) -> TopicWork:
    """Summarize an assessor's current judgments of a topic."""
    stack = place.stack
    judgments, progress = own_judgments(stack, user.pk).order_by(), progress_of(stack, user.pk)
    sums = judgments.aggregate(
        judged=Count("instance__item", distinct=True),
        timed_items=Count("instance__item", distinct=True, filter=Q(active_ms__isnull=False)),
        active_sum=Sum("active_ms", default=0),
    )
    # All pools of a task have one scale, so it is read together with the counts.
    counted = list(
        judgments.values_list("label", "instance__item__pool__scale").annotate(Count("pk"))
    )
    counts: Counter[int] = Counter()
    for label, _, count in counted:
        counts[label] += count
    if counted:
        scale = scale_of_rows(counted[0][1])
    else:
        scale = place.round.pool.label_scale if place.round else task_scale(place.task)
    return TopicWork(
        total=progress["total"],
        done=progress["done"],
        scale=scale,
        labels=tuple((label, counts[label.value]) for label in scale),
        active_ms=sums.pop("active_sum"),
        **sums,
    )


def next_topic(place: Place, user: User) -> Topic | None:
    """Return the assessor's next topic in the lab, or in the round, with unlabelled items.

    Topics of the same task come first, and among them those after this topic. In rounds, topics
    that are otherwise left out come too.
    """
    topic, is_waiting = place.topic, {"pool__closed_at": None, "done_at": None}
    if place.round:
        items = PoolItem.objects.filter(pool=place.stack.pool, assessor=user, **is_waiting)
        topics = Topic.objects.filter(pk__in=items.values("topic"))
    else:
        waiting = PoolItem.official.filter(topic=OuterRef("pk"), **is_waiting)
        left_out = left_out_topics(Task.objects.filter(lab=place.task.lab))
        theirs = assigned_topics(user).filter(task__lab=place.task.lab)
        topics = theirs.filter(Exists(waiting)).exclude(pk__in=left_out.values("pk"))
    return min(
        topics.exclude(pk=topic.pk)
        .select_related("task")
        .only("query_id", "position", "task__name", "task__slug"),
        key=lambda other: (
            other.task_id != topic.task_id,
            other.position < topic.position,
            other.position,
        ),
        default=None,
    )


def skipped_items(place: Place, user: User) -> QuerySet[PoolItem]:
    """Return the items of a topic that were skipped and wait to be judged, in their order."""
    skipped = open_items(place.stack, user.pk).filter(done_at=None, later_at__isnull=False)
    return skipped.order_by("later_at", "pool", "position")


def judged_rows(
    place: Place, user: User, *, filters: Mapping[str, str], scale: LabelScale
) -> QuerySet[Judgment]:
    """Return an assessor's judgments of a topic, newest first, without those changed since.

    `filters` filters by a label of the scale, by `commented`, by `changed` or by `beside`: labels
    that do not count, because another label came first or the item was returned.
    """
    stacked = stacked_judgments(place.stack, user.pk)
    changed = Judgment.objects.filter(supersedes=OuterRef("pk"))
    judgments = (
        stacked.filter(Q(is_current=True) | ~Exists(changed))
        .select_related("instance__item", "supersedes", "guideline", "late")
        .defer("guideline__text")
        .order_by("-judged_at", "-pk")
    )
    label, marked = filters.get("label", ""), filters.get("marked", "")
    conditions = {
        "commented": ~Q(comment=""),
        "changed": Q(supersedes__isnull=False),
        "beside": Q(is_current=False),
    }
    has_label = Q(label=int(label)) if label in map(str, scale.values) else Q()
    return judgments.filter(has_label & conditions.get(marked, Q()))
