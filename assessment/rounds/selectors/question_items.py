"""The judged items of special questions, drawn with a seed, and who answers about them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

import polars as pl
from django.db.models import QuerySet

from arqlab.core.models import Task, Topic
from assessment.models import Judgment, PoolInstance, PoolItem, Round
from assessment.qrels.selectors.drafts import task_scale, with_current
from assessment.qrels.selectors.frames import counting_labels
from assessment.rounds.selectors.rounds import CopiedInstance, CopiedItem

KINDS = (PoolItem.Kind.POSTS, PoolItem.Kind.ANSWERS, PoolItem.Kind.DOCUMENTS)
"""The kinds of items with one text. A visually distinct formula is in several posts."""

_WHERE = "instance__item"
# A tuple of any strings: the type checker does not know `current`, which `with_current` adds.
_LABELLED: tuple[str, ...] = ("item__topic__query_id", "doc_id", "current__label")


class QuestionSample(NamedTuple):
    """How many items of each topic to draw; None draws all generated answers."""

    others: int
    answers: int | None
    seed: int


def question_items(task: Task) -> QuerySet[PoolItem]:
    """Return the official items of a task that are judged, without reported ones."""
    current = Judgment.official.filter(is_current=True, **{f"{_WHERE}__pool__task": task})
    reported = current.filter(label__in=task_scale(task).unjudged).order_by()
    items = PoolItem.official.filter(pool__task=task, kind__in=KINDS, done_at__isnull=False)
    return items.exclude(pk__in=reported.values(_WHERE))


def question_kinds(task: Task) -> dict[int, set[str]]:
    """Return the kinds of the judged items of each topic, reported ones included."""
    items = PoolItem.official.filter(pool__task=task, kind__in=KINDS, done_at__isnull=False)
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
    current = Judgment.official.filter(
        is_current=True, assessor__isnull=False, **{f"{_WHERE}__pool__task": task}
    )
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    rows = current.filter(**{f"{_WHERE}__topic__in": list(topics)}).order_by("assessor")
    for topic, assessor in rows.values_list(f"{_WHERE}__topic", "assessor"):
        counts[topic][assessor or 0] += 1
    return {topic: count.most_common(1)[0][0] for topic, count in counts.items()}


def question_labels(round_: Round) -> pl.DataFrame:
    """Return the labels that count (topic, item, label) of the items that a round asks about.

    Labels that are not judgments are left out.
    """
    items = round_.pool.items.order_by().values("item")
    asked = PoolInstance.official.filter(item__pool__task=round_.task, item__item__in=items)
    rows = with_current(asked).values_list(*_LABELLED)
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


def _random(seed: int, topic: object) -> Random:
    """Return random choices for a topic that do not depend on other topics."""
    return Random(f"{seed} {topic}")  # noqa: S311  # choices that can be repeated
