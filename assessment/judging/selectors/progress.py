"""The topics of an assessor, their progress, and the assessor's own judgments."""

from django.db.models import Count, Q, QuerySet
from django.db.models.expressions import RawSQL

from arqlab.core.models import Topic, Visitor
from assessment.judging.selectors.items import Stack
from assessment.judging.selectors.statements import ASSIGNED
from assessment.models import Judgment, Pool, PoolItem


def assigned_topics(user: Visitor) -> QuerySet[Topic]:
    """Return the topics currently assigned to a user."""
    assigned = RawSQL(ASSIGNED, [user.pk])  # noqa: S611  # our words
    return Topic.objects.filter(pk__in=assigned) if user.pk else Topic.objects.none()


def open_items(stack: Stack, user_id: int) -> QuerySet[PoolItem]:
    """Return the items of a stack of an assessor in the pools that are open for judging."""
    owner = {} if stack.pool is None else {"pool": stack.pool, "assessor": user_id}
    items = PoolItem.objects if owner else PoolItem.official
    open_pools = Pool.objects.filter(closed_at=None)
    return items.filter(topic=stack.topic, pool__in=open_pools, **owner)


def progress_of(stack: Stack, user_id: int) -> dict[str, int]:
    """Return the numbers of items of a stack: `total`, `done` and `skipped`."""
    skipped = Q(done_at=None, later_at__isnull=False)
    return open_items(stack, user_id).aggregate(
        total=Count("pk"), done=Count("done_at"), skipped=Count("pk", filter=skipped)
    )


def stacked_judgments(stack: Stack, user_id: int) -> QuerySet[Judgment]:
    """Return all judgments of a stack by its assessor."""
    rows = Judgment.official if stack.pool is None else Judgment.objects
    judgments = rows.filter(instance__item__topic=stack.topic, assessor=user_id)
    return judgments if stack.pool is None else judgments.filter(instance__item__pool=stack.pool)


def own_judgments(stack: Stack, user_id: int) -> QuerySet[Judgment]:
    """Return an assessor's current judgments of a stack with instance and item, in item order."""
    return (
        stacked_judgments(stack, user_id)
        .filter(is_current=True)
        .select_related("instance__item")
        .order_by("instance__item__pool__number", "instance__item__position", "instance__position")
    )
