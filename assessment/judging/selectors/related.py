"""An assessor's own labels of related items, and their recent comments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Max, QuerySet

from arqlab.core.models import User
from assessment.judging.selectors.items import ShownItem, shown_item
from assessment.judging.selectors.places import Place
from assessment.judging.selectors.progress import assigned_topics, own_judgments
from assessment.models import Judgment, PoolItem
from collection.models import Collection, Post
from collection.permissions import closed_threads
from collection.selectors.collections import collection_of

RECENT_COMMENTS = 8
WITH_THREADS = (PoolItem.Kind.POSTS, PoolItem.Kind.VISUAL_IDS)


class RelatedLabels(NamedTuple):
    """Own current judgments: in the threads of an item, by instance of the item, and of its
    formula in other topics.
    """

    threads: dict[int, list[Judgment]]
    formula: list[Judgment]


def related_labels(item_id: int, *, place: Place, user: User) -> RelatedLabels | None:
    """Return the labels an assessor gave to related items, or None for an unknown item.

    Empty if threads are hidden: the labels would reveal a post. Answers to special questions are
    not related labels.
    """
    shown = shown_item(item_id, stack=place.stack, user_id=user.pk)
    if shown is None:
        return None
    if place.path.asks_questions or shown.hides_threads or shown.item.kind not in WITH_THREADS:
        return RelatedLabels({}, [])
    return RelatedLabels(_in_threads(shown, place, user), _of_formula(item_id, place, user))


def _in_threads(shown: ShownItem, place: Place, user: User) -> dict[int, list[Judgment]]:
    """Return the own labels of other items of the topic, by the instance with the same thread."""
    collection = collection_of(place.topic.task.lab)
    if collection is None:
        return {}
    # One instance of each post is enough: the page shows the post once.
    instances = {each.post_id: each.pk for each in reversed(shown.instances)}
    threads = _threads(collection, instances)
    open_ones = set(threads.values()) - {""} - closed_threads(user, collection)
    own = own_judgments(place.stack, user.pk).exclude(instance__item=shown.item.pk)
    posts = Post.objects.filter(collection=collection, thread_id__in=open_ones)
    found = list(own.filter(instance__post_id__in=posts.values("post_id"))) if open_ones else []
    thread_of = _threads(collection, (one.instance.post_id for one in found))
    labels: dict[str, list[Judgment]] = {}
    for one in found:
        labels.setdefault(thread_of[one.instance.post_id], []).append(one)
    given = {pk: labels.get(threads.get(post_id, "")) for post_id, pk in instances.items()}
    return {pk: some for pk, some in given.items() if some}


def _threads(collection: Collection, post_ids: Iterable[str]) -> dict[str, str]:
    found = Post.objects.filter(collection=collection, post_id__in=set(post_ids))
    return dict(found.values_list("post_id", "thread_id"))


def _of_formula(item_id: int, place: Place, user: User) -> list[Judgment]:
    """Return the own labels of the same formula in other items of the task or the round."""
    item = PoolItem.objects.select_related("pool").get(pk=item_id)
    if item.kind != PoolItem.Kind.VISUAL_IDS:
        return []
    # Visual ids of another version may name another formula.
    if place.round:
        others = PoolItem.objects.filter(pool=place.stack.pool, assessor=user)
    else:
        others = PoolItem.official.filter(
            pool__task=place.task,
            pool__visual_map=item.pool.visual_map_id,
            topic__in=assigned_topics(user),
        )
    same = others.filter(kind=item.kind, item=item.item).exclude(pk=item_id)
    own: QuerySet[Judgment] = Judgment.objects.filter(
        instance__item__in=same, assessor=user, is_current=True
    )
    read = own.select_related("instance__item__topic")
    return list(read.order_by("instance__item__topic__position", "instance"))


def recent_comments(task_id: int, user_id: int) -> list[str]:
    """Return the assessor's last different comments in a task, newest first."""
    own = Judgment.objects.filter(assessor=user_id, instance__item__pool__task=task_id)
    found = own.exclude(comment="").order_by().values("comment").annotate(last=Max("pk"))
    return [row["comment"] for row in found.order_by("-last")[:RECENT_COMMENTS]]
