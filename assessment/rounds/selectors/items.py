"""What a round's assessors judge: copies of items."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import QuerySet

from assessment.models import PoolItem


class CopiedInstance(NamedTuple):
    """An instance of a copied item: its id in qrels, and the post that contains it."""

    doc_id: str
    post_id: str


class CopiedItem(NamedTuple):
    """An item as it is copied for each assessor of a round."""

    topic_id: int
    kind: str
    item: str
    text: str
    instances: tuple[CopiedInstance, ...]


def copied_items(items: QuerySet[PoolItem]) -> list[CopiedItem]:
    """Return items of pools as they are copied, in their order, in two queries."""
    return [
        CopiedItem(
            one.topic_id,
            one.kind,
            one.item,
            one.text,
            tuple(CopiedInstance(each.doc_id, each.post_id) for each in one.instances.all()),
        )
        for one in items.prefetch_related("instances")
    ]
