"""An assessor's own labels of related items, and their recent comments."""

from collections.abc import Iterable

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from arqlab.core.models import Task, User
from assessment.judging.selectors.items import ShownItem, shown_item
from assessment.judging.selectors.places import Place
from assessment.judging.selectors.progress import assigned_topics, own_judgments
from assessment.models import Judgment, PoolInstance, PoolItem
from assessment.models.kinds import kinds_that
from collection.models import Collection, Post
from collection.permissions import closed_threads
from collection.selectors.collections import collection_of


def judged_ids(task: Task, query_id: str, ids: Iterable[str]) -> set[str]:
    """Return the ids of a topic's official items and instances, among some, with judgments."""
    # By its key: SQLite would look for its name in all items of the pool.
    id_list, topic = list(ids), list(task.topics.filter(query_id=query_id))
    instances = PoolInstance.official.filter(
        Q(item__item__in=id_list) | Q(doc_id__in=id_list),
        Exists(Judgment.objects.filter(instance=OuterRef("pk"))),  # only for the few wanted
        item__topic__in=topic,
    )
    rows = instances.order_by().values_list("item__item", "doc_id")
    return {doc_id for row in rows for doc_id in row}


def judgments_of_item(task: Task, query_id: str, item: str) -> QuerySet[Judgment]:
    """Return the judgments of an item or instance, also decisions and revealed ones, in order."""
    judgments = Judgment.objects.filter(
        Q(instance__item__pool__round=None)
        | Q(instance__item__pool__round__kind__in=kinds_that(decides=True))
        | Q(instance__item__pool__round__revealed_at__isnull=False),
        Q(instance__item__item=item) | Q(instance__doc_id=item),
        instance__item__pool__task=task,
        instance__item__topic__query_id=query_id,
    )
    related = ("instance__item__pool__round", "assessor", "guideline", "ticket", "late")
    return judgments.select_related(*related).order_by("instance__doc_id", "judged_at", "pk")


def related_labels(
    item_id: int, *, place: Place, user: User
) -> tuple[dict[int, list[Judgment]], list[Judgment]] | None:
    """Return the labels an assessor gave to related items, or None for an unknown item: those in
    the threads of the item, by its instance, and those of its formula in other topics.

    Empty if threads are hidden: the labels would reveal a post. Answers to special questions are
    not related labels.
    """
    item = shown_item(item_id, stack=place.stack, user_id=user.pk)
    if item is None:
        return None
    has_threads = item.item.kind in (PoolItem.Kind.POSTS, PoolItem.Kind.VISUAL_IDS)
    if place.path.asks_questions or item.hides_threads or not has_threads:
        return {}, []
    return _in_threads(item, place, user), _of_formula(item_id, place, user)


def _in_threads(item: ShownItem, place: Place, user: User) -> dict[int, list[Judgment]]:
    """Return the own labels of other items of the topic, by the instance with the same thread."""
    collection = collection_of(place.topic.task.lab)
    if collection is None:
        return {}
    # One instance of each post is enough: the page shows the post once.
    instances = {instance.post_id: instance.pk for instance in reversed(item.instances)}
    threads = _threads(collection, instances)
    open_threads = set(threads.values()) - {""} - closed_threads(user, collection)
    judged = own_judgments(place.stack, user.pk).exclude(instance__item=item.item.pk)
    posts = Post.objects.filter(collection=collection, thread_id__in=open_threads)
    judgments = list(judged.filter(instance__post_id__in=posts.values("post_id")))
    thread_of = _threads(collection, (judgment.instance.post_id for judgment in judgments))
    labels: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        labels.setdefault(thread_of[judgment.instance.post_id], []).append(judgment)
    labels_by_instance = {
        pk: labels.get(threads.get(post_id, "")) for post_id, pk in instances.items()
    }
    return {pk: own_labels for pk, own_labels in labels_by_instance.items() if own_labels}


def _threads(collection: Collection, post_ids: Iterable[str]) -> dict[str, str]:
    posts = Post.objects.filter(collection=collection, post_id__in=set(post_ids))
    return dict(posts.values_list("post_id", "thread_id"))


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
    judgments = Judgment.objects.filter(instance__item__in=same, assessor=user, is_current=True)
    read = judgments.select_related("instance__item__topic")
    return list(read.order_by("instance__item__topic__position", "instance"))


def recent_comments(task_id: int, user_id: int) -> list[str]:
    """Return the assessor's last different comments in a task, newest first."""
    judgments = Judgment.objects.filter(assessor=user_id, instance__item__pool__task=task_id)
    comments = judgments.exclude(comment="").order_by().values("comment").annotate(last=Max("pk"))
    return [row["comment"] for row in comments.order_by("-last")[:8]]
