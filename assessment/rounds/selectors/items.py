"""The items of rounds, drawn with a seed, and who gets those of special questions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from random import Random
from typing import NamedTuple, TypeVar

import polars as pl
from django.db.models import Q, QuerySet

from arqkit.records import ItemKind
from arqlab.core.models import Lab, Task, Topic, User
from arqlab.labs.permissions import labs_organized_by
from assessment.models import PoolInstance, PoolItem, Qrel, QrelSet, Round
from assessment.qrels.selectors.drafts import task_scale, with_current
from assessment.qrels.selectors.frames import counting_labels, official_judgments
from assessment.rounds.selectors.rounds import CopiedInstance, CopiedItem, copied_items
from collection.models import Post
from collection.selectors.collections import formulas_with

WITH_ONE_TEXT = (PoolItem.Kind.POSTS, PoolItem.Kind.ANSWERS, PoolItem.Kind.DOCUMENTS)
"""The kinds of items with one text. A visually distinct formula is in several posts."""

_WHERE = "instance__item"
# A tuple of any strings: the type checker does not know `current`, which `with_current` adds.
_LABELLED: tuple[str, ...] = ("item__topic__query_id", "doc_id", "current__label")

FORMULAS = (ItemKind.FORMULA_IDS, ItemKind.VISUAL_IDS)
GOLD_KINDS = {
    ItemKind.POSTS: PoolItem.Kind.POSTS,
    ItemKind.DOCUMENTS: PoolItem.Kind.DOCUMENTS,
    ItemKind.FORMULA_IDS: PoolItem.Kind.VISUAL_IDS,
    ItemKind.VISUAL_IDS: PoolItem.Kind.VISUAL_IDS,
}
"""The kind of pool item for each kind of item in qrels; answers of runs are in no collection."""

Drawn = TypeVar("Drawn")


class QuestionSample(NamedTuple):
    """How many items of each topic to draw; None draws all generated answers."""

    others: int
    answers: int | None
    seed: int


def question_items(task: Task) -> QuerySet[PoolItem]:
    """Return the official items of a task that are judged, without reported ones."""
    reported = official_judgments(task).filter(label__in=task_scale(task).unjudged)
    items = PoolItem.official.filter(pool__task=task, kind__in=WITH_ONE_TEXT, done_at__isnull=False)
    return items.exclude(pk__in=reported.values(_WHERE))


def question_kinds(task: Task) -> dict[int, set[str]]:
    """Return the kinds of the judged items of each topic, reported ones included."""
    items = PoolItem.official.filter(pool__task=task, kind__in=WITH_ONE_TEXT, done_at__isnull=False)
    kinds: dict[int, set[str]] = defaultdict(set)
    for topic, kind in items.order_by().values_list("topic", "kind").distinct():
        kinds[topic].add(kind)
    return dict(kinds)


def drawn_for_questions(
    task: Task, topics: Iterable[Topic], sample: QuestionSample, *, keys: Sequence[str]
) -> dict[int, list[CopiedItem]]:
    """Return items of each topic in random order, the same for the same seed.

    Each has an instance for each question (`keys`), and its item is the post of all of them.
    """
    official = question_items(task).filter(topic__in=topics).order_by("item")
    decks: dict[tuple[int, bool], list[CopiedItem]] = defaultdict(list)
    for topic, kind, item, text in official.values_list("topic", "kind", "item", "text"):
        instances = tuple(CopiedInstance(key, item) for key in keys)
        is_answer = kind == PoolItem.Kind.ANSWERS
        decks[topic, is_answer].append(CopiedItem(topic, kind, item, text, instances))
    drawn: dict[int, list[CopiedItem]] = defaultdict(list)
    for (topic, is_answer), deck in sorted(decks.items()):
        count = sample.answers if is_answer else sample.others
        random = _random(sample.seed, f"{topic} {is_answer}")
        drawn[topic] += random.sample(deck, len(deck))[:count]
    for topic, items in drawn.items():
        _random(sample.seed, topic).shuffle(items)
    return dict(drawn)


def assessors_of(task: Task, topics: Iterable[int]) -> dict[int, int]:
    """Return who gave most of the current official labels of each topic, by key."""
    current = official_judgments(task).filter(**{f"{_WHERE}__topic__in": list(topics)})
    rows = current.exclude(assessor=None).order_by("assessor")
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    for topic, assessor in rows.values_list(f"{_WHERE}__topic", "assessor"):
        counts[topic][assessor or 0] += 1
    return {topic: count.most_common(1)[0][0] for topic, count in counts.items()}


def question_labels(round_: Round) -> pl.DataFrame:
    """Return the labels that count (topic, item, label) of the items that a round asks about.

    Labels that are not judgments are left out.
    """
    items = round_.pool.items.order_by().values("item")
    instances = PoolInstance.official.filter(item__pool__task=round_.task, item__item__in=items)
    rows = with_current(instances).values_list(*_LABELLED)
    schema = {"topic": pl.String, "item": pl.String, "label": pl.Int8}
    labels = pl.DataFrame(list(rows), schema=schema, orient="row")
    labels = counting_labels(labels, round_.task, by="item").drop_nulls("label")
    return labels.filter(task_scale(round_.task).is_judged())


def shared_topics(
    drawn: Mapping[int, Sequence[CopiedItem]], people: Sequence[int], judges: Mapping[int, int]
) -> dict[int, list[CopiedItem]]:
    """Return the items of each person, by whole topics: those that they judged.

    The other topics go, largest first, to the person with the fewest items.
    """
    items: dict[int, list[CopiedItem]] = {person: [] for person in people}
    others = []
    for topic, some in drawn.items():
        if judges.get(topic) in items:
            items[judges[topic]] += some
        else:
            others.append(some)
    for some in sorted(others, key=len, reverse=True):
        items[min(people, key=lambda person: len(items[person]))] += some
    return items


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
    is_visible = Q(task__lab__in=labs_organized_by(user)) | Q(
        leaderboards__hidden_at=None, leaderboards__isnull=False, task__lab__is_public=True
    )
    versions = (
        QrelSet.objects.filter(
            is_visible,
            task__kind=task.kind,
            items__in=GOLD_KINDS,
            task__lab__collections__labs=task.lab_id,
        )
        .exclude(task__lab=task.lab_id)
        .select_related("task__lab")
        .order_by("task__lab__name", "task", "-version")
        .distinct()
    )
    values = {label.value for label in task_scale(task).judgments}
    return [
        version
        for version in versions
        if {label.value for label in version.label_scale.judgments} == values
    ]


def drawn_from_pool(
    task: Task, topics: Iterable[Topic], *, count: int, seed: int
) -> list[CopiedItem]:
    """Return some official items of each topic, the same for the same seed."""
    keys: dict[int, list[tuple[str, int]]] = {}
    items = PoolItem.official.filter(pool__task=task, topic__in=topics).order_by("item")
    for topic, item, key in items.values_list("topic", "item", "pk"):
        keys.setdefault(topic, []).append((item, key))
    drawn_keys = [
        key
        for topic in sorted(keys)
        for _, key in drawn({0: keys[topic]}, count, _random(seed, topic))
    ]
    official = PoolItem.official.filter(pk__in=drawn_keys).order_by("pk")
    copies = dict(zip(sorted(drawn_keys), copied_items(official), strict=True))
    return [copies[key] for key in drawn_keys]


def drawn_from_qrels(
    qrels: QrelSet, lab: Lab, topics: Iterable[Topic], *, count: int, seed: int
) -> list[CopiedItem]:
    """Return some items of each topic with their labels mixed, the same for the same seed.

    Items that are not in the collection of the lab, and labels that are not judgments, are left
    out. Each label is drawn in turn, as in ARQMath-3 (004 §4.5).
    """
    topics_by_id = {topic.query_id: topic for topic in topics}
    values = [label.value for label in qrels.label_scale.judgments]
    rows = Qrel.objects.filter(qrel_set=qrels, query_id__in=topics_by_id, relevance__in=values)
    labels = list(rows.order_by("doc_id").values_list("query_id", "doc_id", "relevance"))
    stored = _held(qrels, lab, {doc_id for _, doc_id, _ in labels})
    groups: dict[str, dict[int, list[str]]] = {query_id: {} for query_id in topics_by_id}
    drawn_formulas: set[tuple[str, str]] = (
        set()
    )  # of a visually distinct formula, the first one is enough
    for query_id, doc_id, label in labels:
        if doc_id in stored and (query_id, stored[doc_id][0]) not in drawn_formulas:
            drawn_formulas.add((query_id, stored[doc_id][0]))
            groups[query_id].setdefault(label, []).append(doc_id)
    kind = GOLD_KINDS[ItemKind(qrels.items)]
    return [
        CopiedItem(topic.pk, kind, stored[doc_id][0], "", (stored[doc_id][1],))
        for query_id, topic in topics_by_id.items()
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
