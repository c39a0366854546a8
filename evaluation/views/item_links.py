"""What a user may open from the items of rankings: threads and judgments."""

from __future__ import annotations

from collections.abc import Set

from django.urls import reverse

from arqlab.core.models import Lab, Visitor
from assessment.judging.selectors.related import judged_ids
from collection.permissions import closed_threads
from collection.selectors.collections import collection_of
from evaluation.permissions import ScoreAccess


def closed_to(user: Visitor, lab: Lab) -> Set[str]:
    """Return the ids of the threads that a user may not see."""
    collection = collection_of(lab)
    return closed_threads(user, collection) if collection else frozenset()


def judgments_links(access: ScoreAccess, query_id: str) -> dict[str, str]:
    """Return the addresses of the pages of judgments, by item of the topic, for organizers."""
    if not access.organizes:
        return {}
    address = [access.task.lab.slug, access.task.slug, query_id]
    return {
        item: reverse("assessment:item-judgments", args=[*address, item])
        for item in judged_ids(access.task, query_id)
    }
