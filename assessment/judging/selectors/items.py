"""Items as they are judged. Every submit reads one and the next one, so these questions are written
in SQL: to build and compile them anew each time takes Django longer than everything else that a
submit does together."""

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
    """Return a question, said in the words of each database."""
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
    """Return the question for the first item that an assessor may take."""
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
    """Where a topic stands: the slugs of lab and task, and its id."""

    lab: str
    task: str
    query_id: str


class Current(NamedTuple):
    """The judgment that counts for an instance, whose it is, its key, and its ticket that nobody
    has answered.
    """

    judgment: int
    assessor: int | None
    key: UUID
    ticket: int | None


class Submitted(NamedTuple):
    """An item that labels came for: its state, what counts for each of its instances, the id of the
    instructions, and the scale of its pool."""

    topic_id: int
    is_done: bool
    is_closed: bool
    is_assigned: bool
    guideline_id: int | None
    current: Mapping[int, Current | None]
    scale: LabelScale


class ShownInstance(NamedTuple):
    """What gets a label: the post that shows it, where the collection holds it, and the assessor's
    own judgment.
    """

    pk: int
    doc_id: str
    post_id: str
    post: Post | None
    judgment: Judgment | None


class ShownItem(NamedTuple):
    """An item for one assessor: without the instances that others judged."""

    item: PoolItem
    is_done: bool
    is_later: bool
    instances: tuple[ShownInstance, ...]


def submitted_item(item_id: int, *, user_id: int, guideline: int | None) -> Submitted | None:
    """Read an item and lock it, in one query: who judges another of its instances at the same time
    waits here.

    None when it is gone with its pool. After a wait, judgments that were stored meanwhile are not
    seen.
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
    """Return the scale of a pool as JSON has it; read once, not with each submit."""
    return scale_of_rows(json.loads(rows))


def lock_next(
    topic_id: int, *, user_id: int, have: Collection[int], at: datetime
) -> ShownItem | None:
    """Return the next item of a topic that an assessor may take and that the page does not have,
    locked; None when none is left. One query, two when only items put off are left.

    What another assessor is taking at this moment is passed over, so nobody waits, and no two get
    the same.
    """
    parameters = {"topic": topic_id, "user": user_id, "have": list(have), "at": database_moment(at)}
    with connection.cursor() as cursor:
        for question in _NEXT:
            if rows := question.ask(cursor, **parameters):
                return _shown(rows, user_id)
    return None


def shown_item(item_id: int, *, topic_id: int, user_id: int) -> ShownItem | None:
    """Return an item of a topic as an assessor may see it; None when all of it was judged by
    others, or there is none.
    """
    parameters = {"item": item_id, "topic": topic_id}
    with connection.cursor() as cursor:
        cursor.execute(
            f"{_SHOWN} WHERE item.id = %(item)s AND item.topic_id = %(topic)s {_ORDER}", parameters
        )
        rows = cursor.fetchall()
    found = _shown(rows, user_id) if rows else None
    return found if found and found.instances else None


def database_moment(at: datetime) -> Any:
    """Return a moment as the database takes it in SQL that is written by hand."""
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
    """Return judgments by their ids; of an item that nobody judged there are none, and nothing is
    asked.
    """
    wanted = list(ids)
    return Judgment.objects.in_bulk(wanted) if wanted else {}
