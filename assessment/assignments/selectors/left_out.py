"""Topics that nobody judges: an organizer set them aside, or the frozen pool has no items of them.

Plans, assignments, rosters, marks, counts, pages and files ask here.
"""

from collections.abc import Collection

from django.db.models import Exists, OuterRef, QuerySet

from arqlab.core.models import Task, Topic
from assessment.models import Pool, PoolItem, SetAsideTopic


def left_out_topics(tasks: Collection[Task] | QuerySet[Task]) -> QuerySet[Topic]:
    """Return the topics of tasks that nobody judges.

    Before a pool is frozen, every topic may get items. A supplement brings a topic back.
    """
    aside = SetAsideTopic.objects.filter(topic=OuterRef("pk"), ended_at=None)
    pools = Pool.official.filter(task=OuterRef("task"))
    items = PoolItem.official.filter(topic=OuterRef("pk"))
    is_left_out = Exists(aside) | (Exists(pools) & ~Exists(items))
    return Topic.objects.filter(is_left_out, task__in=tasks)


def judged_topics_of(task: Task) -> QuerySet[Topic]:
    """Return the other topics of a task, in order."""
    left_out = left_out_topics([task]).values("pk")
    return Topic.objects.filter(task=task).exclude(pk__in=left_out).order_by("position")
