"""Pools for tests, small and written by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import uuid4

from arqkit.protocols.presets import PoolProtocol
from arqkit.protocols.scales import SYSTEM_FAILURE
from arqlab.core.models import Task, Topic, User
from assessment.models import Assignment, Judgment, Pool, PoolInstance, PoolItem, Ticket
from assessment.qrels.selectors.drafts import task_scale
from collection.selectors.collections import collection_of

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
# topic: items in their order; a formula's instances are (formula id, post id)
ITEMS: Mapping[str, Sequence[str]] = {"A.1": ["10", "11", "12"], "A.2": ["12"]}
Formulas = Mapping[str, Mapping[str, Sequence[tuple[str, str]]]]


def make_pool(task: Task, items: Mapping[str, Sequence[str]] = ITEMS, **fields: Any) -> Pool:
    """Make a frozen pool of answer posts, in this order; posts are shown where the lab's collection
    has them. In a lab without a collection, each item has a text of its own.
    """
    return _make(
        task,
        {topic: {post: [(post, post)] for post in posts} for topic, posts in items.items()},
        "posts",
        fields,
    )


def make_formula_pool(task: Task, formulas: Formulas, **fields: Any) -> Pool:
    """Make a frozen pool of formulas: topic, visual id, instances as (formula id, post id)."""
    return _make(task, formulas, "visual-ids", fields)


def make_written_pool(task: Task, answers: Mapping[str, Mapping[str, str]], **fields: Any) -> Pool:
    """Make a frozen pool of generated answers: topic, RUN:TOPIC, text."""
    pool = _make(
        task,
        {topic: {item: [(item, "")] for item in texts} for topic, texts in answers.items()},
        "answers",
        fields,
    )
    for item in pool.items.select_related("topic"):
        item.text = answers[item.topic.query_id][item.item]
        item.save()
    return pool


def _make(task: Task, items: Formulas, kind: str, fields: Mapping[str, Any]) -> Pool:
    values = {
        "settings": asdict(PoolProtocol(primary=10)),
        "scale": task_scale(task).rows(),
        "seed": 1,
        "runs": [],
        "sha256": sha256(repr(items).encode()).hexdigest(),
        "frozen_at": NOW,
    }
    pool = Pool.objects.create(task=task, number=task.pools.count() + 1, **values | fields)
    text = "" if kind == "answers" or collection_of(task.lab) else "A text to judge."
    for topic in Topic.objects.filter(task=task, query_id__in=items):
        rows = PoolItem.objects.bulk_create(
            PoolItem(pool=pool, topic=topic, kind=kind, item=item, position=position, text=text)
            for position, item in enumerate(items[topic.query_id], start=1)
        )
        PoolInstance.objects.bulk_create(
            PoolInstance(item=row, doc_id=doc_id, position=place, post_id=post_id)
            for row in rows
            for place, (doc_id, post_id) in enumerate(items[topic.query_id][row.item])
        )
    return pool


def assign(user: User, *topics: Topic, **fields: Any) -> None:
    """Assign topics to an assessor."""
    for topic in topics:
        Assignment.objects.create(topic=topic, assessor=user, assigned_at=NOW, **fields)


def judge(user: User, instance: PoolInstance, label: int, **fields: Any) -> Judgment:
    """Store a judgment as it stands after it was sent: current, its item done."""
    judgment = Judgment.objects.create(
        instance=instance,
        assessor=user,
        label=label,
        **{"key": uuid4(), "judged_at": NOW, "active_ms": 20_000} | fields,
    )
    waiting = instance.item.instances.exclude(judgments__is_current=True)
    if not waiting.exists():
        PoolItem.objects.filter(pk=instance.item_id).update(done_at=NOW)
    return judgment


def raise_ticket(user: User, instance: PoolInstance, **fields: Any) -> Ticket:
    """Store a System failure with its ticket."""
    judgment = judge(user, instance, SYSTEM_FAILURE.value, comment="A formula cannot be read.")
    return Ticket.objects.create(
        judgment=judgment, **{"html": "<p>Seen.</p>", "raised_at": NOW} | fields
    )
