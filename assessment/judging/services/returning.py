"""Items that organizers return to their topics to be judged again."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from django.db import transaction

from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from assessment.assignments.services.assigning import end_reviews
from assessment.models import Judgment, PoolItem


class Returned(NamedTuple):
    """The numbers of labels that no longer count, and of labels that were left as they are."""

    labels: int
    left: int


@transaction.atomic
def return_for_judging(*, task: Task, judgments: Collection[int], by: User) -> Returned:
    """Return the items of current official judgments of a task to be judged again.

    The labels stay in the history. Those of closed pools are left as they are, and those with an
    open ticket, whose answer can return the item.
    """
    found = Judgment.official.filter(pk__in=judgments, instance__item__pool__task=task)
    # A submitted label locks its item first, and the judgments of the item after it.
    items = PoolItem.official.filter(pk__in=found.values("instance__item"), pool__closed_at=None)
    locked = list(items.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))
    waiting = found.filter(ticket__isnull=False, ticket__answered_at=None).values("pk")
    wanted = found.filter(instance__item__in=locked, is_current=True).exclude(pk__in=waiting)
    chosen = dict(wanted.values_list("pk", "instance__item"))
    count = Judgment.objects.filter(pk__in=chosen).update(is_current=False)
    returned = PoolItem.official.filter(pk__in=set(chosen.values()))
    returned.update(done_at=None, later_at=None, leased_to=None, leased_until=None)
    end_reviews(returned)
    if count:
        topics = returned.order_by("topic__position").values_list("topic__query_id", flat=True)
        record_event(
            verb="judgments.return",
            target=task,
            lab=task.lab,
            actor=by,
            labels=count,
            topics=list(dict.fromkeys(topics)),
        )
    return Returned(count, len(judgments) - count)
