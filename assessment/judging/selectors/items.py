"""Items as they are judged.

Every submit reads the current item and the next one. These queries are written in SQL because
Django takes longer to build and compile them than a submit takes for everything else.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from arqlab.ir.labels import LabelScale, scale_of_rows
from assessment.judging.selectors.prepared_statements import Planned
from assessment.judging.selectors.progress import ASSIGNED
from assessment.models import Judgment, PoolItem
from collection.models import Post

# No other assessor has the item on the page.
FREE = "(item.leased_until IS NULL OR item.leased_until <= %(at)s OR item.leased_to_id = %(user)s)"
_POST = ("kind", "title", "body", "clean_title", "clean_body", "rules", "collection_id")
_SHOWN = f"""
    SELECT item.id, item.kind, item.item, item.position, item.text,
        item.done_at IS NOT NULL, item.later_at IS NOT NULL,
        instance.id, instance.doc_id, instance.post_id, (
            SELECT judgment.id FROM assessment_judgment judgment
            WHERE judgment.instance_id = instance.id AND judgment.is_current
        ), post.id, {", ".join(f"post.{name}" for name in _POST)}
    FROM assessment_poolitem item
    JOIN assessment_poolinstance instance ON instance.item_id = item.id
    LEFT JOIN collection_post post ON post.post_id = instance.post_id AND post.collection_id = (
        SELECT searched.collection_id FROM core_topic topic
        JOIN core_task task ON task.id = topic.task_id
        JOIN collection_labcollection searched ON searched.lab_id = task.lab_id
        WHERE topic.id = %(topic)s
    )
"""  # noqa: S608  # our words
_WAITING = f"""
    SELECT item.id FROM assessment_poolitem item
    WHERE item.topic_id = %(topic)s AND item.done_at IS NULL AND {FREE} AND {{not_at_hand}}
    AND item.pool_id NOT IN (
        SELECT pool.id FROM assessment_pool pool WHERE pool.closed_at IS NOT NULL)
"""  # noqa: S608  # our words
_ORDER = "ORDER BY instance.position"
# What the databases say in different words. SQLite has one writer at a time, and no rows to lock.
_POSTGRESQL = {
    "lock_item": "FOR UPDATE OF item",
    "lock_free": "FOR UPDATE SKIP LOCKED",
    "not_at_hand": "item.id <> ALL (%(have)s)",
}
_SQLITE = {
    "lock_item": "",
    "lock_free": "",
    "not_at_hand": "item.id NOT IN (SELECT value FROM json_each(%(have)s))",
}


def _planned(name: str, question: str, **types: str) -> Planned:
    """Return a query in the SQL of each database."""
    texts = {
        "on_postgresql": question.format(**_POSTGRESQL),
        "on_sqlite": question.format(**_SQLITE),
    }
    return Planned(name, **texts, **types)


_SUBMITTED = _planned(
    "submitted_item",
    f"""
    SELECT instance.id, judgment.id, judgment.assessor_id, judgment.key, ticket.id,
        item.topic_id, item.done_at IS NOT NULL,
        pool.closed_at IS NOT NULL, item.topic_id IN ({ASSIGNED % "%(user)s"}), (
            SELECT guideline.id FROM assessment_guideline guideline
            WHERE guideline.task_id = pool.task_id AND guideline.version = %(guideline)s
        ), pool.scale
    FROM assessment_poolitem item
    JOIN assessment_pool pool ON pool.id = item.pool_id
    JOIN assessment_poolinstance instance ON instance.item_id = item.id
    LEFT JOIN assessment_judgment judgment
        ON judgment.instance_id = instance.id AND judgment.is_current
    LEFT JOIN assessment_ticket ticket
        ON ticket.judgment_id = judgment.id AND ticket.answered_at IS NULL
    WHERE item.id = %(item)s {{lock_item}}
""",  # noqa: S608  # our words
    user="bigint",
    guideline="integer",
    item="bigint",
)


def _next(name: str, order: str) -> Planned:
    """Return the query for the first item that an assessor may take."""
    first = f"{_WAITING} {order} LIMIT 1 {{lock_free}}"
    question = f"{_SHOWN} WHERE item.id = ({first}) {_ORDER}"
    return _planned(
        name, question, topic="bigint", user="bigint", have="bigint[]", at="timestamptz"
    )


# What was put off comes last.
_NEXT = (
    _next("next_item", "AND item.later_at IS NULL ORDER BY item.pool_id, item.position"),
    _next(
        "next_put_off",
        "AND item.later_at IS NOT NULL ORDER BY item.later_at, item.pool_id, item.position",
    ),
)


class TopicPath(NamedTuple):
    """The address of a topic: the slugs of lab and task, and the topic id."""

    lab: str
    task: str
    query_id: str


class Current(NamedTuple):
    """The current judgment of an instance: its assessor, its key, and its open ticket."""

    judgment: int
    assessor: int | None
    key: UUID
    ticket: int | None


class Submitted(NamedTuple):
    """An item that labels were sent for.

    Its state, the current judgment of each instance, the id of the guidelines, and the scale of its
    pool.
    """

    topic_id: int
    is_done: bool
    is_closed: bool
    is_assigned: bool
    guideline_id: int | None
    current: Mapping[int, Current | None]
    scale: LabelScale


class ShownInstance(NamedTuple):
    """An instance to label: its post, if imported, and the assessor's own judgment."""

    pk: int
    doc_id: str
    post_id: str
    post: Post | None
    judgment: Judgment | None


class ShownItem(NamedTuple):
    """An item for one assessor, without the instances that others judged."""

    item: PoolItem
    is_done: bool
    is_later: bool
    instances: tuple[ShownInstance, ...]


def submitted_item(item_id: int, *, user_id: int, guideline: int | None) -> Submitted | None:
    """Read and lock an item in one query, or return None if it was discarded with its pool.

    A submit for another of its instances waits here. After the wait, judgments stored by that
    submit are not visible yet.
    """
    with connection.cursor() as cursor:
        rows = _SUBMITTED.ask(cursor, user=user_id, guideline=guideline, item=item_id)
    if not rows:
        return None
    topic_id, is_done, is_closed, is_assigned, guideline_id, scale = rows[0][5:]
    current = {row[0]: _current(*row[1:5]) if row[1] else None for row in rows}
    return Submitted(
        topic_id,
        bool(is_done),
        bool(is_closed),
        bool(is_assigned),
        guideline_id,
        current,
        _scale(scale),
    )


def _current(judgment: int, assessor: int | None, key: UUID | str, ticket: int | None) -> Current:
    return Current(judgment, assessor, UUID(str(key)), ticket)  # SQLite has no type for keys


@lru_cache
def _scale(rows: str) -> LabelScale:
    """Return the scale of a pool, parsed from JSON once per process and not with each submit."""
    return scale_of_rows(json.loads(rows))


def lock_next(
    topic_id: int, *, user_id: int, have: Collection[int], at: datetime
) -> ShownItem | None:
    """Lock and return the next item of a topic that the page does not have, or None.

    Takes one query, or two if only skipped items are left. Rows that another assessor is locking
    are skipped, so that nobody waits and no two assessors get the same item.
    """
    parameters = {"topic": topic_id, "user": user_id, "have": list(have), "at": database_moment(at)}
    with connection.cursor() as cursor:
        for question in _NEXT:
            if rows := question.ask(cursor, **parameters):
                return _shown(rows, user_id)
    return None


def shown_item(item_id: int, *, topic_id: int, user_id: int) -> ShownItem | None:
    """Return an item as the assessor may see it; None if missing or judged by others."""
    parameters = {"item": item_id, "topic": topic_id}
    with connection.cursor() as cursor:
        cursor.execute(
            f"{_SHOWN} WHERE item.id = %(item)s AND item.topic_id = %(topic)s {_ORDER}", parameters
        )
        rows = cursor.fetchall()
    found = _shown(rows, user_id) if rows else None
    return found if found and found.instances else None


def database_moment(at: datetime) -> Any:
    """Return a datetime as the database expects it in handwritten SQL."""
    return connection.ops.adapt_datetimefield_value(at)


def _shown(rows: Sequence[tuple[Any, ...]], user_id: int) -> ShownItem:
    pk, kind, name, position, text, is_done, is_later = rows[0][:7]
    item = PoolItem(pk=pk, kind=kind, item=name, position=position, text=text)
    judged = _judgments(row[10] for row in rows if row[10])
    own = {pk for pk, judgment in judged.items() if judgment.assessor_id == user_id}
    instances = (_instance(row, judged) for row in rows if row[10] is None or row[10] in own)
    return ShownItem(item, bool(is_done), bool(is_later), tuple(instances))


def _instance(row: tuple[Any, ...], judged: Mapping[int, Judgment]) -> ShownInstance:
    pk, doc_id, post_id, judgment_id, post_pk, *values = row[7:]
    fields = dict(zip(_POST, values, strict=True))
    post = Post(pk=post_pk, post_id=post_id, **fields) if post_pk else None
    return ShownInstance(pk, doc_id, post_id, post, judged.get(judgment_id))


def _judgments(ids: Iterable[int]) -> Mapping[int, Judgment]:
    """Return judgments by id; without ids, no query is made."""
    wanted = list(ids)
    return Judgment.objects.in_bulk(wanted) if wanted else {}
