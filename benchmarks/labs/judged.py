"""A lab that is nearly judged: pool, judgments and tickets, at any size.

Labels and times are drawn at random, half a minute apart, eight hours a day. On top of them are
contradictions between duplicate posts, a very fast series, a drift over all items of one assessor,
and topics without a relevant item, which have a forecast.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.utils import timezone

from arqkit.protocols.scales import SYSTEM_FAILURE
from arqkit.texts.html.sanitizer import RULES
from arqlab.core.models import Lab, Membership, Task, Topic, User
from assessment.models import (
    Assignment,
    DuplicatePosts,
    Guideline,
    Judgment,
    Pool,
    PoolInstance,
    PoolItem,
    Ticket,
)
from collection.models import Collection, LabCollection, Post

ASSESSORS = 8
LABELS, WEIGHTS = (3, 2, 1, 0, SYSTEM_FAILURE.value), (2, 5, 10, 82.4, 0.6)
BARREN = 10  # every tenth topic has no relevant item
STARTED = 10  # every tenth topic is half judged; of the others, one item is left
A_DAY = 960  # judgments
TOPICS_AT_ONCE = 50  # to keep the memory constant
FIRST_POST = 1_000_000
MARK = {"exact": "a passage with \ufffc in it", "formulas": ["x^2"], "before": "", "after": ""}


class JudgedLab(NamedTuple):
    """The task, its people, and the time at which the lab was made."""

    task: Task
    organizer: User
    assessors: list[User]
    at: datetime


def make_judged(topics: int, items: int) -> JudgedLab:
    """Make the lab: so many topics with so many items each."""
    at = timezone.now()
    lab = Lab.objects.create(slug="bench", name="Benchmark", protocol="arqmath-3", is_public=True)
    task = Task.objects.create(
        lab=lab,
        slug="task1",
        name="Answer retrieval",
        kind="answers",
        trec_items="posts",
        judging_deadline=at + timedelta(days=10),
    )
    organizer = make_user("organizer")
    assessors = [make_user(f"assessor{number}") for number in range(ASSESSORS)]
    for person in (organizer, *assessors):
        role = "organizer" if person == organizer else "assessor"
        Membership.objects.create(lab=lab, user=person, role=role)
    rows = Topic.objects.bulk_create(_topic(task, number) for number in range(topics))
    Assignment.objects.bulk_create(
        Assignment(topic=topic, assessor=assessors[number % ASSESSORS], assigned_at=at)
        for number, topic in enumerate(rows)
    )
    made = JudgedLab(task, organizer, assessors, at)
    collection, pool = _empty_pool(made)
    guideline, draw = _guideline(made, topics, items), random.Random(1)
    for first in range(0, topics, TOPICS_AT_ONCE):
        part = rows[first : first + TOPICS_AT_ONCE]
        numbers = range(FIRST_POST + first * items, FIRST_POST + (first + len(part)) * items)
        Post.objects.bulk_create(_posts(collection, numbers), batch_size=2000)
        instances = _fill(made, pool, part, items)
        _judge(made, instances, items, guideline, draw)
        if first == 0:
            _duplicates(made, instances[items : 2 * items])
    return made


def make_user(name: str) -> User:
    """Make a user whose name has several words."""
    return User.objects.create(username=name, first_name=name.title(), last_name="van den Berg")


def _topic(task: Task, number: int) -> Topic:
    return Topic(
        task=task,
        query_id=f"A.{number + 301}",
        position=number,
        title_html=f"How do I prove the inequality number {number}?",
        body_html="<p>I tried induction, which leads nowhere.</p>" * 5,
        info={"difficulty": ("easy", "medium", "hard")[number % 3]},
    )


def _empty_pool(made: JudgedLab) -> tuple[Collection, Pool]:
    """Make the collection with a question, and a pool without items."""
    collection = Collection.objects.create(slug="bench", loaded_at=made.at)
    LabCollection.objects.create(lab=made.task.lab, collection=collection)
    Post.objects.create(
        collection=collection,
        post_id="1",
        kind="question",
        thread_id="1",
        title="A question",
        body="<p>Its text.</p>",
        rules=RULES,
    )
    return collection, Pool.objects.create(
        task=made.task,
        number=1,
        settings={},
        scale=made.task.protocol.labels.rows(),
        seed=1,
        runs=[],
        sha256="0" * 64,
        frozen_at=made.at - timedelta(days=30),
    )


def _fill(made: JudgedLab, pool: Pool, topics: list[Topic], items: int) -> list[PoolInstance]:
    """Add so many items for each topic to the pool. Return the instances."""
    rows = PoolItem.objects.bulk_create(
        PoolItem(
            pool=pool,
            topic=topic,
            kind="posts",
            item=str(FIRST_POST + topic.position * items + place),
            position=place,
            done_at=made.at if _is_judged(topic.position, place, items) else None,
        )
        for topic in topics
        for place in range(items)
    )
    return PoolInstance.objects.bulk_create(
        PoolInstance(item=row, doc_id=row.item, post_id=row.item) for row in rows
    )


def _is_judged(topic: int, place: int, items: int) -> bool:
    return place < (items // 2 if topic % STARTED == STARTED - 1 else items - 1)


def _posts(collection: Collection, numbers: Iterable[int]) -> Iterator[Post]:
    """Yield the answers of a pool."""
    fields = {"collection": collection, "kind": "answer", "thread_id": "1", "rules": RULES}
    for number in numbers:
        formulas = [
            f'<span class="math-container" id="{number}.{place}">$x^{place} + {number % 97}$</span>'
            for place in range(3)
        ]
        body = "".join(f"<p>A passage with {one} in it.</p>" for one in formulas)
        yield Post(post_id=str(number), body=body, **fields)


def _guideline(made: JudgedLab, topics: int, items: int) -> Guideline:
    """Write the guidelines when judging starts."""
    each = -(-topics // ASSESSORS) * items  # most items of an assessor
    start = made.at - timedelta(days=each // A_DAY + 1)
    return Guideline.objects.create(
        task=made.task, version=1, text="<p>Read the question first.</p>", written_at=start
    )


def _judge(
    made: JudgedLab,
    instances: list[PoolInstance],
    items: int,
    guideline: Guideline,
    draw: random.Random,
) -> None:
    """Store judgments of the pool in the order of judging, and a ticket for each report."""
    places = [(one.item.topic.position, one.item.position) for one in instances]
    judgments = Judgment.objects.bulk_create(
        Judgment(
            instance=instance,
            assessor=made.assessors[topic % ASSESSORS],
            key=UUID(int=topic * items + place),
            guideline=guideline,
            judged_at=guideline.written_at + _worked(topic // ASSESSORS * items + place),
            marks=[MARK] if place % 20 == 0 else [],
            comment="It answers another question." if place % 50 == 0 else "",
            **_drawn(draw, topic, place, items),
        )
        for instance, (topic, place) in zip(instances, places, strict=True)
        if _is_judged(topic, place, items)
    )
    reported = [one for one in judgments if one.label == SYSTEM_FAILURE.value]
    Ticket.objects.bulk_create(
        Ticket(
            judgment=judgment,
            html="<p>The item as it was shown.</p>",
            raised_at=judgment.judged_at,
            answer="Judge what can be read." if number % 2 else "",
            answered_by=made.organizer if number % 2 else None,
            answered_at=judgment.judged_at + timedelta(hours=5) if number % 2 else None,
        )
        for number, judgment in enumerate(reported)
    )


def _worked(judgments: int) -> timedelta:
    """Return the time from the start until so many judgments are made."""
    days, rest = divmod(judgments, A_DAY)
    return timedelta(days=days, seconds=30 * rest)


def _drawn(draw: random.Random, topic: int, place: int, items: int) -> Mapping[str, int]:
    """Return the label and the time of a judgment."""
    label = draw.choices(LABELS, WEIGHTS)[0]
    if topic % BARREN == STARTED - 1:
        label = min(label, 1)
    if topic % ASSESSORS == 2:  # becomes stricter within each topic
        label = 2 if draw.random() > place / items else 0
    is_fast = topic == 3 and 20 <= place < 40
    return {
        "label": label,
        "active_ms": 1_200 if is_fast else round(draw.lognormvariate(10.3, 0.7)),
    }


def _duplicates(made: JudgedLab, instances: list[PoolInstance]) -> None:
    groups: list[tuple[str, list[int]]] = [
        (one.doc_id, [one.pk, two.pk])
        for one, two in zip(instances[::2], instances[1::2], strict=True)
    ]
    DuplicatePosts.objects.create(task=made.task, groups=groups, found_at=made.at)
