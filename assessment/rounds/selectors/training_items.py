"""The items of training rounds, drawn with a seed from the official pool or from qrels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from random import Random
from typing import TypeVar

import polars as pl
from django.db.models import Q, QuerySet

from arqkit.records import ItemKind
from arqlab.core.models import Lab, Task, Topic, User
from arqlab.core.permissions import labs_organized_by
from assessment.models import PoolItem, Qrel, QrelSet
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.rounds import CopiedInstance, CopiedItem, copied_items
from collection.models import Post
from collection.selectors.collections import formulas_with

FORMULAS = (ItemKind.FORMULA_IDS, ItemKind.VISUAL_IDS)
GOLD_KINDS = {
    ItemKind.POSTS: PoolItem.Kind.POSTS,
    ItemKind.DOCUMENTS: PoolItem.Kind.DOCUMENTS,
    ItemKind.FORMULA_IDS: PoolItem.Kind.VISUAL_IDS,
    ItemKind.VISUAL_IDS: PoolItem.Kind.VISUAL_IDS,
}
"""The kind of pool item for each kind of item in qrels; answers of runs are in no collection."""

Drawn = TypeVar("Drawn")


def pooled_topics(task: Task) -> QuerySet[Topic]:
    """Return the topics of a task with official items, in their order."""
    pooled = PoolItem.official.filter(pool__task=task).order_by().values("topic")
    return Topic.objects.filter(pk__in=pooled).order_by("position")


def gold_topics(qrels: QrelSet) -> QuerySet[Topic]:
    """Return the topics of a version of qrels, in their order."""
    named = qrels.qrels.order_by().values("query_id").distinct()
    return Topic.objects.filter(task=qrels.task_id, query_id__in=named).order_by("position")


def gold_choices(task: Task, user: User) -> list[QrelSet]:
    """Return the versions of qrels whose labels may be gold for a task, for an organizer.

    They are of other labs with the same collection, and have the same kind of task and the same
    judgments. The organizer organizes the lab, or everyone sees its leaderboard.
    """
    seen = Q(task__lab__in=labs_organized_by(user)) | Q(
        leaderboards__hidden_at=None, leaderboards__isnull=False, task__lab__is_public=True
    )
    versions = (
        QrelSet.objects.filter(
            seen,
            task__kind=task.kind,
            items__in=GOLD_KINDS,
            task__lab__collections__labs=task.lab_id,
        )
        .exclude(task__lab=task.lab_id)
        .select_related("task__lab")
        .order_by("task__lab__name", "task", "-version")
        .distinct()
    )
    wanted = {label.value for label in task_scale(task).judgments}
    return [
        version
        for version in versions
        if {label.value for label in version.label_scale.judgments} == wanted
    ]


def drawn_from_pool(
    task: Task, topics: Iterable[Topic], *, count: int, seed: int
) -> list[CopiedItem]:
    """Return some official items of each topic, the same for the same seed."""
    keys: dict[int, list[tuple[str, int]]] = {}
    items = PoolItem.official.filter(pool__task=task, topic__in=topics).order_by("item")
    for topic, item, key in items.values_list("topic", "item", "pk"):
        keys.setdefault(topic, []).append((item, key))
    chosen = [
        key
        for topic in sorted(keys)
        for _, key in drawn({0: keys[topic]}, count, _random(seed, topic))
    ]
    official = PoolItem.official.filter(pk__in=chosen).order_by("pk")
    copies = dict(zip(sorted(chosen), copied_items(official), strict=True))
    return [copies[key] for key in chosen]


def drawn_from_qrels(
    qrels: QrelSet, lab: Lab, topics: Iterable[Topic], *, count: int, seed: int
) -> list[CopiedItem]:
    """Return some items of each topic with their labels mixed, the same for the same seed.

    Items that are not in the collection of the lab, and labels that are not judgments, are left
    out. Each label is drawn in turn, as in ARQMath-3 (004 §4.5).
    """
    known = {topic.query_id: topic for topic in topics}
    values = [label.value for label in qrels.label_scale.judgments]
    rows = Qrel.objects.filter(qrel_set=qrels, query_id__in=known, relevance__in=values)
    labels = list(rows.order_by("doc_id").values_list("query_id", "doc_id", "relevance"))
    held = _held(qrels, lab, {doc_id for _, doc_id, _ in labels})
    groups: dict[str, dict[int, list[str]]] = {query_id: {} for query_id in known}
    taken: set[tuple[str, str]] = set()  # of a visually distinct formula, the first one is enough
    for query_id, doc_id, label in labels:
        if doc_id in held and (query_id, held[doc_id][0]) not in taken:
            taken.add((query_id, held[doc_id][0]))
            groups[query_id].setdefault(label, []).append(doc_id)
    kind = GOLD_KINDS[ItemKind(qrels.items)]
    return [
        CopiedItem(topic.pk, kind, held[doc_id][0], "", (held[doc_id][1],))
        for query_id, topic in known.items()
        for doc_id in drawn(groups[query_id], count, _random(seed, query_id))
    ]


def drawn(groups: Mapping[int, Sequence[Drawn]], count: int, random: Random) -> list[Drawn]:
    """Return some members of the groups in random order, taken from each group in turn."""
    decks = [random.sample(groups[key], len(groups[key])) for key in sorted(groups, reverse=True)]
    turns = [member for row in zip_longest(*decks) for member in row if member is not None]
    return random.sample(turns[:count], min(count, len(turns)))


def _held(qrels: QrelSet, lab: Lab, ids: set[str]) -> dict[str, tuple[str, CopiedInstance]]:
    """Return the pool item and the instance of each id that the lab's collection has.

    A visual id is judged in its first formula, by id, in a question or an answer.
    """
    if ItemKind(qrels.items) not in FORMULAS:
        posts = Post.objects.filter(collection__labs=lab, post_id__in=ids)
        return {
            post_id: (post_id, CopiedInstance(post_id, post_id))
            for post_id in posts.values_list("post_id", flat=True)
        }
    column = "formula_id" if qrels.items == ItemKind.FORMULA_IDS else "visual_id"
    formulas = formulas_with(lab, column, pl.Series(sorted(ids), dtype=pl.String))
    if formulas is None:
        return {}
    rows = formulas.filter(pl.col("type").is_in(["question", "answer", "title"]))
    first = rows.drop_nulls("visual_id").sort("formula_id").unique(column, keep="first")
    return {
        row[column]: (row["visual_id"], CopiedInstance(row["formula_id"], row["post_id"]))
        for row in first.iter_rows(named=True)
    }


def _random(seed: int, topic: object) -> Random:
    """Return random choices for a topic that do not depend on other topics."""
    return Random(f"{seed} {topic}")  # noqa: S311  # choices that can be repeated
