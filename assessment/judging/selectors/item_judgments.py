"""All judgments of an item, with those that were replaced."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from arqlab.core.models import Task
from assessment.models import Judgment, PoolItem, Round

_SHOWN_ROUNDS = (
    Q(instance__item__pool__round=None)
    | Q(instance__item__pool__round__kind=Round.Kind.ADJUDICATION)
    | Q(instance__item__pool__round__revealed_at__isnull=False)
)
"""The official round, the adjudication, and rounds whose labels are revealed."""


def judged_ids(task: Task, query_id: str) -> set[str]:
    """Return the ids of a topic's official items and instances that have judgments."""
    judgments = Judgment.official.filter(
        instance__item__pool__task=task, instance__item__topic__query_id=query_id
    )
    rows = judgments.values_list("instance__item__item", "instance__doc_id").distinct()
    return {one for row in rows for one in row}


def pooled_items(task: Task, query_id: str, item: str) -> QuerySet[PoolItem]:
    """Return the official items with this id, or with an instance that has it."""
    items = PoolItem.official.filter(pool__task=task, topic__query_id=query_id)
    return items.filter(Q(item=item) | Q(instances__doc_id=item)).distinct()


def judgments_of_item(task: Task, query_id: str, item: str) -> QuerySet[Judgment]:
    """Return the judgments of an item or one of its instances, instance by instance, oldest first.

    Those of rounds of second judgments and training appear when the round is revealed. Answers to
    special questions are no labels.
    """
    found = Judgment.objects.filter(
        _SHOWN_ROUNDS,
        Q(instance__item__item=item) | Q(instance__doc_id=item),
        instance__item__pool__task=task,
        instance__item__topic__query_id=query_id,
    ).exclude(instance__item__pool__round__kind=Round.Kind.QUESTIONS)
    related = ("instance__item__pool__round", "assessor", "guideline", "ticket", "late")
    return found.select_related(*related).order_by("instance__doc_id", "judged_at", "pk")
