"""Items as they are judged: the submitted item, and items as the page shows them."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from arqkit.labels import LabelScale, scale_of_rows
from assessment.assignments.selectors.leases import LEASE
from assessment.judging.selectors.statements import (
    NEXT,
    NEXT_IN_ROUND,
    POST_COLUMNS,
    SHOWN,
    SUBMITTED,
    ShownRow,
    SubmittedRow,
    database_moment,
)
from assessment.models import Judgment, LateLabel, PoolItem
from assessment.models.kinds import KINDS, RoundKind, parts_of_key
from collection.models import Post


class TopicPath(NamedTuple):
    """The address of a topic: the slugs of lab and task, the topic id, and the key of the round,
    empty for the official one.
    """

    lab: str
    task: str
    query_id: str
    round: str = ""

    @property
    def rules(self) -> RoundKind | None:
        """Return what the kind of the round says; the official round has none."""
        parts = parts_of_key(self.round)
        return KINDS[parts[0]] if parts else None

    @property
    def opens_lab(self) -> bool:
        """Return whether the items link to threads and posts; those of sample tasks do not."""
        return self.rules is None or not self.rules.is_for_applicants

    @property
    def asks_questions(self) -> bool:
        """Return whether the labels are answers to special questions."""
        return self.rules is not None and self.rules.asks


class Stack(NamedTuple):
    """The items to judge at a time: of a topic, or the own ones in the pool of a round."""

    topic: int
    pool: int | None = None


class Current(NamedTuple):
    """The current judgment of an instance: its assessor and its key."""

    judgment: int
    assessor: int | None
    key: UUID


class EarlierLabel(NamedTuple):
    """A label sent since the user got an item; `given_at` is by the browser's clock if known."""

    arrived_at: datetime
    given_at: datetime
    active: timedelta
    is_first: bool


class Held(NamedTuple):
    """When the user got an item, and the labels for any item that they have sent since.

    If it `is_set_aside` (skipped, or on a trip), work on it may be older than the previous label.
    """

    since: datetime
    labels: tuple[EarlierLabel, ...]
    is_set_aside: bool


class Submitted(NamedTuple):
    """An item for which labels were sent.

    It has its state, the current judgment of each instance, the id of the guidelines, and the scale
    of its pool. `is_assigned` and `has_role` describe the user who sent the labels, at this moment.
    `textless` has the instances whose text is missing.
    """

    stack: Stack
    is_done: bool
    is_closed: bool
    is_assigned: bool
    guideline_id: int | None
    current: Mapping[int, Current | None]
    scale: LabelScale
    has_role: bool
    held: Held
    textless: frozenset[int]

    @property
    def lateness(self) -> LateLabel.Cause | None:
        """Return why the user may no longer judge the item, or None, as in rounds."""
        if not self.has_role:
            return LateLabel.Cause.ROLE
        is_taken = self.stack.pool is None and not self.is_assigned
        return LateLabel.Cause.TOPIC if is_taken else None


class ShownInstance(NamedTuple):
    """An instance to label: its post, if imported, and the assessor's own judgment."""

    pk: int
    doc_id: str
    post_id: str
    post: Post | None
    judgment: Judgment | None


class ShownItem(NamedTuple):
    """An item for one assessor, without the instances that others judged.

    The formula `is_alone` if assessors do not see its document (`shows_alone`).
    """

    item: PoolItem
    is_done: bool
    is_skipped: bool
    hides_threads: bool
    is_alone: bool
    is_corrected: bool
    instances: tuple[ShownInstance, ...]


def submitted_item(
    item_id: int, *, user_id: int, guideline: int | None, since: datetime, at: datetime
) -> Submitted | None:
    """Read and lock an item in one query, or return None if it was discarded with its pool.

    `since` is when the lease that the labels came with was signed, if the item has no older one.
    A submit for another of its instances waits here. After the wait, judgments stored by that
    submit are not visible yet.
    """
    with connection.cursor() as cursor:
        values = SUBMITTED.ask(
            cursor,
            user=user_id,
            guideline=guideline,
            item=item_id,
            since=database_moment(since),
            at=database_moment(at),
            until=database_moment(at + LEASE),
        )
    if not values:
        return None
    rows = list(map(SubmittedRow._make, values))
    first = rows[0]
    labels = (
        EarlierLabel(
            _moment(arrived_at),
            _moment(given_at or arrived_at),
            timedelta(milliseconds=active_ms or 0),
            bool(is_first),
        )
        for arrived_at, given_at, active_ms, is_first in json.loads(first.sent_labels or "[]")
    )
    return Submitted(
        Stack(first.topic, first.pool),
        bool(first.is_done),
        bool(first.is_closed),
        bool(first.is_assigned),
        first.guideline,
        {row.instance: _current(row) for row in rows},
        _scale(first.scale),
        bool(first.has_role),
        Held(_moment(first.held_since), tuple(labels), bool(first.is_set_aside)),
        frozenset(row.instance for row in rows if not row.has_text),
    )


def _current(row: SubmittedRow) -> Current | None:
    if row.judgment is None:
        return None
    return Current(row.judgment, row.assessor, UUID(str(row.key)))  # SQLite has no type for keys


def _moment(value: datetime | str) -> datetime:
    """Return a time as SQLite or JSON has it, in UTC."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@lru_cache
def _scale(rows: str) -> LabelScale:
    """Return the scale of a pool, parsed from JSON once per process and not with each submit."""
    return scale_of_rows(json.loads(rows))


def lock_next(
    stack: Stack, *, user_id: int, have: Collection[int], at: datetime
) -> ShownItem | None:
    """Lock and return the next item of a stack that the page does not have, or None.

    Takes one or two queries. Locked rows are skipped: no two assessors get the same item.
    """
    parameters = stack._asdict() | {"user": user_id, "have": list(have), "at": database_moment(at)}
    with connection.cursor() as cursor:
        for question in NEXT if stack.pool is None else NEXT_IN_ROUND:
            if rows := question.ask(cursor, **parameters):
                return _shown(rows, user_id)
    return None


def shown_item(item_id: int, *, stack: Stack, user_id: int) -> ShownItem | None:
    """Return an item as the assessor may see it; None if missing or judged by others."""
    with connection.cursor() as cursor:
        rows = SHOWN.ask(cursor, item=item_id, user=user_id, **stack._asdict())
    item = _shown(rows, user_id) if rows else None
    return item if item and item.instances else None


def _shown(values: Iterable[tuple[object, ...]], user_id: int) -> ShownItem:
    rows = list(map(ShownRow.of, values))
    first = rows[0]
    judged = Judgment.objects.in_bulk([row.judgment for row in rows if row.judgment])
    own_keys = {pk for pk, judgment in judged.items() if judgment.assessor_id == user_id}
    instances = []
    for row in rows:
        if row.judgment is None or row.judgment in own_keys:
            fields = dict(zip(POST_COLUMNS, row.post_values, strict=True))
            post = Post(pk=row.post, post_id=row.post_id, **fields) if row.post else None
            judgment = judged[row.judgment] if row.judgment else None
            instances.append(ShownInstance(row.instance, row.doc_id, row.post_id, post, judgment))
    return ShownItem(
        PoolItem(pk=first.item, kind=first.kind, position=first.position, text=first.text),
        is_done=bool(first.is_done),
        is_skipped=bool(first.is_skipped),
        hides_threads=bool(first.hides_threads),
        is_alone=bool(first.is_alone),
        is_corrected=bool(first.is_corrected),
        instances=tuple(instances),
    )
