"""Items as they are judged. Every submit reads one and the next one, so these questions are written in SQL: to build
and compile them anew each time takes Django longer than everything else that a submit does together."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakSet

from django.db import connection
from django.db.backends.utils import CursorWrapper

from arqlab.core.models import Lab, Task
from assessment.models import Judgment, PoolItem
from assessment.selectors.judging import ASSIGNED
from collection.models import Post

# No other assessor has the item on the page.
FREE = "(item.leased_until IS NULL OR item.leased_until <= %(at)s OR item.leased_to_id = %(user)s)"
_POST = ("kind", "title", "body", "clean_title", "clean_body", "rules", "collection_id")
_SHOWN = f"""
    SELECT item.id, item.kind, item.item, item.position, item.text, item.done_at IS NOT NULL, item.later_at IS NOT NULL,
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
    WHERE item.topic_id = %(topic)s AND item.done_at IS NULL AND {FREE}
    AND item.pool_id NOT IN (SELECT pool.id FROM assessment_pool pool WHERE pool.closed_at IS NOT NULL)
"""  # noqa: S608  # our words
_SUBMITTED = f"""
    SELECT instance.id, judgment.id, judgment.assessor_id, ticket.id, item.topic_id, item.done_at IS NOT NULL,
        pool.closed_at IS NOT NULL, item.topic_id IN ({ASSIGNED}), (
            SELECT guideline.id FROM assessment_guideline guideline
            WHERE guideline.task_id = pool.task_id AND guideline.version = %s
        ), lab.protocol, task.kind, task.overrides
    FROM assessment_poolitem item
    JOIN assessment_pool pool ON pool.id = item.pool_id
    JOIN core_task task ON task.id = pool.task_id
    JOIN core_lab lab ON lab.id = task.lab_id
    JOIN assessment_poolinstance instance ON instance.item_id = item.id
    LEFT JOIN assessment_judgment judgment ON judgment.instance_id = instance.id AND judgment.is_current
    LEFT JOIN assessment_ticket ticket ON ticket.judgment_id = judgment.id AND ticket.answered_at IS NULL
    WHERE item.id = %s
"""  # noqa: S608  # our words

_PLANNED = WeakSet[Any]()  # the connections that know the question for a submitted item


class TopicPath(NamedTuple):
    """Where a topic stands: the slugs of lab and task, and its id."""

    lab: str
    task: str
    query_id: str


class Current(NamedTuple):
    """The judgment that counts for an instance, whose it is, and its ticket that nobody has answered."""

    judgment: int
    assessor: int | None
    ticket: int | None


class Submitted(NamedTuple):
    """An item that labels came for: its state, what counts for each of its instances, the id of the instructions, and the
    lowest and highest label of its task."""

    topic_id: int
    is_done: bool
    is_closed: bool
    is_assigned: bool
    guideline_id: int | None
    current: Mapping[int, Current | None]
    scale: tuple[int, int]


class ShownInstance(NamedTuple):
    """What gets a label: the post that shows it, where the collection holds it, and the assessor's own judgment."""

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
    """Read an item and lock it, in one query: who judges another of its instances at the same time waits here.

    None when it is gone with its pool. After a wait, judgments that were stored meanwhile are not seen.
    """
    with connection.cursor() as cursor:
        cursor.execute(_planned(cursor), [user_id, guideline, item_id])
        rows = cursor.fetchall()
    if not rows:
        return None
    topic_id, is_done, is_closed, is_assigned, guideline_id, *task = rows[0][4:]
    current = {row[0]: Current(*row[1:4]) if row[1] else None for row in rows}
    return Submitted(topic_id, bool(is_done), bool(is_closed), bool(is_assigned), guideline_id, current, _scale(*task))


def _planned(cursor: CursorWrapper) -> str:
    """Give the question for a submitted item, which PostgreSQL plans six times as long as it answers it: once for each
    connection is enough."""
    if connection.vendor != "postgresql":
        return _SUBMITTED
    if connection.connection not in _PLANNED:
        question = f"{_SUBMITTED} FOR UPDATE OF item" % ("$1", "$2", "$3")
        # Below Django's cursor: it is no query of this submit.
        cursor.cursor.execute(f"PREPARE submitted_item (bigint, integer, bigint) AS {question}")
        _PLANNED.add(connection.connection)
    return "EXECUTE submitted_item (%s, %s, %s)"


@lru_cache
def _scale(preset: str, kind: str, overrides: str) -> tuple[int, int]:
    """Give the lowest and highest label of a task; worked out once, not with each submit."""
    return Task(lab=Lab(protocol=preset), kind=kind, overrides=json.loads(overrides)).protocol.labels


def lock_next(topic_id: int, *, user_id: int, have: Collection[int], at: datetime) -> ShownItem | None:
    """Give the next item of a topic that an assessor may take and that the page does not have, locked; None when none is
    left. One query, two when only items put off are left.

    What another assessor is taking at this moment is passed over, so nobody waits, and no two get the same.
    """
    parameters = {"topic": topic_id, "user": user_id, "at": moment(at)}
    others = f" AND item.id NOT IN ({', '.join(str(int(one)) for one in have)})" if have else ""
    for order in (
        "AND item.later_at IS NULL ORDER BY item.pool_id, item.position",
        "AND item.later_at IS NOT NULL ORDER BY item.later_at, item.pool_id, item.position",
    ):
        first = f"{_WAITING}{others} {order} LIMIT 1 {_lock('FOR UPDATE SKIP LOCKED')}"
        if found := _shown(f"item.id = ({first})", parameters):
            return found
    return None


def shown_item(item_id: int, *, topic_id: int, user_id: int) -> ShownItem | None:
    """Give an item of a topic as an assessor may see it; None when all of it was judged by others, or there is none."""
    parameters = {"item": item_id, "topic": topic_id, "user": user_id}
    found = _shown("item.id = %(item)s AND item.topic_id = %(topic)s", parameters)
    return found if found and found.instances else None


def posts_of(lab: Lab, post_ids: Iterable[str]) -> dict[str, Post]:
    """Give those of the posts that the lab's collection holds, by their ids."""
    wanted = set(post_ids) - {""}  # a written answer stands in no post
    found = Post.objects.filter(collection__labs=lab, post_id__in=wanted).order_by()
    return {post.post_id: post for post in found}


def moment(at: datetime) -> Any:
    """Give a moment as the database takes it in SQL that is written by hand."""
    return connection.ops.adapt_datetimefield_value(at)


def _lock(clause: str) -> str:
    """Give a locking clause, for databases on which several write at a time."""
    return clause if connection.features.has_select_for_update else ""


def _shown(condition: str, parameters: Mapping[str, Any]) -> ShownItem | None:
    with connection.cursor() as cursor:
        cursor.execute(f"{_SHOWN} WHERE {condition} ORDER BY instance.position", parameters)  # our words
        rows = cursor.fetchall()
    if not rows:
        return None
    pk, kind, name, position, text, is_done, is_later = rows[0][:7]
    item = PoolItem(pk=pk, kind=kind, item=name, position=position, text=text)
    judged = _judgments(row[10] for row in rows if row[10])
    own = {pk for pk, judgment in judged.items() if judgment.assessor_id == parameters["user"]}
    instances = (_instance(row, judged) for row in rows if row[10] is None or row[10] in own)
    return ShownItem(item, bool(is_done), bool(is_later), tuple(instances))


def _instance(row: tuple[Any, ...], judged: Mapping[int, Judgment]) -> ShownInstance:
    pk, doc_id, post_id, judgment_id, post_pk, *values = row[7:]
    fields = dict(zip(_POST, values, strict=True))
    post = Post(pk=post_pk, post_id=post_id, **fields) if post_pk else None
    return ShownInstance(pk, doc_id, post_id, post, judged.get(judgment_id))


def _judgments(ids: Iterable[int]) -> Mapping[int, Judgment]:
    """Give judgments by their ids; of an item that nobody judged there are none, and nothing is asked."""
    wanted = list(ids)
    return Judgment.objects.in_bulk(wanted) if wanted else {}
