"""The hand-written SQL of judging, for SQLite and PostgreSQL.

Django takes long to build and compile queries. Each comment states what the statement saves: how
much more CPU time a judgment takes without it (docs/adr/0017). Queries that would save less than
15% are left to Django.
"""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from arqlab.core.models import Role
from arqlab.core.planned import Planned
from assessment.models.kinds import kinds_that
from assessment.pools.selectors.choices import hides_threads_sql, shows_alone_sql

POST_COLUMNS = ("kind", "title", "body", "clean_title", "clean_body", "rules", "collection_id")
# What differs between the databases. SQLite has one writer at a time, and no rows to lock.
_POSTGRESQL = {
    "lock_item": "FOR UPDATE OF item",
    "lock_free": "FOR UPDATE SKIP LOCKED",
    "not_at_hand": "item.id <> ALL (%(have)s)",
    "hides_threads": hides_threads_sql("postgresql"),
    "shows_alone": shows_alone_sql("postgresql"),
    "json_rows": "json_agg(json_build_array",
}
_SQLITE = {
    "lock_item": "",
    "lock_free": "",
    "not_at_hand": "item.id NOT IN (SELECT value FROM json_each(%(have)s))",
    "hides_threads": hides_threads_sql("sqlite"),
    "shows_alone": shows_alone_sql("sqlite"),
    "json_rows": "json_group_array(json_array",
}

# The roles that may judge. Not for speed: it is part of what follows.
_JUDGES = f"held.role IN ({', '.join(repr(role.value) for role in Role.judging())})"
# The topics assigned to a user who still has a role in the lab that may judge; none of an archive.
# Not for speed: it is part of SUBMITTED, and `assigned_topics` repeats no rule.
ASSIGNED = f"""
    SELECT given.topic_id FROM assessment_assignment given
    JOIN core_topic asked ON asked.id = given.topic_id
    JOIN core_task within ON within.id = asked.task_id
    JOIN core_lab lab ON lab.id = within.lab_id
    JOIN core_membership held ON held.lab_id = within.lab_id AND held.user_id = given.assessor_id
    WHERE given.assessor_id = %s AND given.ended_at IS NULL AND {_JUDGES}
        AND within.archived_at IS NULL AND lab.archived_at IS NULL
"""  # noqa: S608  # our words
# Whether the user has a role in the lab of the pool that may judge; applicants need none. Not for
# speed: it is part of SUBMITTED.
_OPEN_KINDS = ", ".join(repr(key) for key in kinds_that(is_for_applicants=True))
_HAS_ROLE = f"""EXISTS (
    SELECT 1 FROM core_task within
    LEFT JOIN assessment_round held_in ON held_in.id = pool.round_id
    WHERE within.id = pool.task_id AND (held_in.kind IN ({_OPEN_KINDS}) OR EXISTS (
        SELECT 1 FROM core_membership held
        WHERE held.lab_id = within.lab_id AND held.user_id = %(user)s AND {_JUDGES}
    ))
)"""  # noqa: S608  # our words

# A pool that takes no labels. Not for speed: it is part of SUBMITTED.
_CLOSED = """(pool.closed_at IS NOT NULL OR EXISTS (
    SELECT 1 FROM core_task task JOIN core_lab lab ON lab.id = task.lab_id
    WHERE task.id = pool.task_id
        AND (task.archived_at IS NOT NULL OR lab.archived_at IS NOT NULL)
))"""
# Whether the page shows a text of the instance: that of the item, of the collection, or of the
# lab's corrections. Not for speed: it is part of SUBMITTED.
_HAS_TEXT = """(item.text <> '' OR EXISTS (
    SELECT 1 FROM core_topic asked JOIN core_task within ON within.id = asked.task_id
    JOIN collection_labcollection searched ON searched.lab_id = within.lab_id
    JOIN collection_post post ON post.collection_id = searched.collection_id
    WHERE asked.id = item.topic_id AND post.post_id = instance.post_id
) OR EXISTS (
    SELECT 1 FROM core_task within JOIN core_correction made ON made.lab_id = within.lab_id
    WHERE within.id = pool.task_id AND made.kind = 'text' AND made.key =
        CASE WHEN instance.post_id = '' THEN instance.doc_id ELSE instance.post_id END
))"""
# Since when the user has the item: by its row if it is still theirs, else by their signed lease.
_SINCE = """CASE WHEN item.leased_to_id = %(user)s AND item.leased_since < %(since)s
    THEN item.leased_since ELSE %(since)s END"""
# The labels of the user that arrived since, as JSON. Not for speed: it is part of SUBMITTED.
_WORK_SINCE = f"""(
    SELECT CAST({{json_rows}}(
        own.judged_at, own.given_at, own.active_ms, own.supersedes_id IS NULL
    )) AS text)
    FROM assessment_judgment own WHERE own.assessor_id = %(user)s
        AND own.judged_at > {_SINCE} AND own.judged_at <= %(at)s AND NOT own.is_imported
)"""  # noqa: S608  # our words

# Whether the lab has corrections. Not for speed: without them, no query reads them.
_IS_CORRECTED = """EXISTS (
    SELECT 1 FROM core_topic topic
    JOIN core_task task ON task.id = topic.task_id
    JOIN core_correction made ON made.lab_id = task.lab_id
    WHERE topic.id = %(topic)s
)"""
_SHOWN = f"""
    SELECT item.id, item.kind, item.position, item.text,
        item.done_at IS NOT NULL, item.later_at IS NOT NULL, {{{{hides_threads}}}},
        {{{{shows_alone}}}}, {_IS_CORRECTED},
        instance.id, instance.doc_id, instance.post_id, (
            SELECT judgment.id FROM assessment_judgment judgment
            WHERE judgment.instance_id = instance.id AND judgment.is_current
        ), post.id, {", ".join(f"post.{name}" for name in POST_COLUMNS)}
    FROM assessment_poolitem item
    JOIN assessment_poolinstance instance ON instance.item_id = item.id
    LEFT JOIN collection_post post ON post.post_id = instance.post_id AND post.collection_id = (
        SELECT searched.collection_id FROM core_topic topic
        JOIN core_task task ON task.id = topic.task_id
        JOIN collection_labcollection searched ON searched.lab_id = task.lab_id
        WHERE topic.id = %(topic)s
    )
    WHERE item.id = {{which}} ORDER BY instance.position
"""  # noqa: S608  # our words
# The items of the official round, and the assessor's own items of another one.
_OFFICIAL = "item.assessor_id IS NULL"
_IN_ROUND = "item.pool_id = %(pool)s AND item.assessor_id = %(user)s"

# The first item that an assessor may take: no other assessor has it on the page. A lease ends with
# the role of its holder, as in `assignments.selectors.leases`. An item that the assessor reported,
# and that returned for another one, waits for the others while there are any.
_FIRST = f"""(
    SELECT item.id FROM assessment_poolitem item
    WHERE item.topic_id = %(topic)s AND {{whose}} AND item.done_at IS NULL AND {{{{not_at_hand}}}}
    AND (
        item.leased_until IS NULL OR item.leased_until <= %(at)s OR item.leased_to_id = %(user)s
        OR NOT EXISTS (
            SELECT 1 FROM core_topic asked JOIN core_task within ON within.id = asked.task_id
            JOIN core_membership held ON held.lab_id = within.lab_id
            WHERE asked.id = %(topic)s AND held.user_id = item.leased_to_id AND {_JUDGES}
        )
    ) AND item.pool_id NOT IN (
        SELECT pool.id FROM assessment_pool pool WHERE pool.closed_at IS NOT NULL
    ) AND (item.kept_from_id IS NULL OR item.kept_from_id <> %(user)s OR NOT EXISTS (
        SELECT 1 FROM assessment_assignment other
        WHERE other.topic_id = %(topic)s AND other.ended_at IS NULL
            AND other.assessor_id <> %(user)s
    )) AND {{order}} LIMIT 1 {{{{lock_free}}}}
)"""  # noqa: S608  # our words
_ORDERS = {
    "item": "item.later_at IS NULL ORDER BY item.pool_id, item.position",
    "skipped": "item.later_at IS NOT NULL ORDER BY item.later_at, item.pool_id, item.position",
}

# Whether all instances of an item have labels. Not for speed: it is part of FINISH_AND_LEASE.
ALL_JUDGED = """NOT EXISTS (
    SELECT 1 FROM assessment_poolinstance instance
    LEFT JOIN assessment_judgment judgment
        ON judgment.instance_id = instance.id AND judgment.is_current
    WHERE instance.item_id = %(item)s AND judgment.id IS NULL
)"""
# Completes the item and leases the next one, if any. Without it: +17%, for two statements. Both
# rows are locked before it, so that two assessors who do this with each other's items never wait
# for each other.
_FINISH_AND_LEASE = """
    UPDATE assessment_poolitem
    SET done_at = CASE WHEN id = %(next)s THEN NULL ELSE %(at)s END,
        leased_to_id = CASE WHEN id = %(next)s THEN %(user)s ELSE NULL END,
        leased_since = CASE WHEN id = %(next)s THEN CASE
            WHEN leased_to_id = %(user)s AND leased_since IS NOT NULL
                AND (leased_until > %(at)s OR leased_until IS NULL)
            THEN leased_since ELSE %(at)s
        END ELSE NULL END,
        leased_until = CASE WHEN id = %(next)s THEN CASE
            WHEN leased_to_id = %(user)s AND leased_until > %(until)s THEN leased_until
            ELSE %(until)s
        END ELSE NULL END
    WHERE id = %(next)s OR (id = %(item)s AND done_at IS NULL AND {is_judged})
"""


def _planned(name: str, query: str, **types: str) -> Planned:
    """Return a prepared query. Without preparing those of judging: +29%."""
    return Planned(name, query.format(**_POSTGRESQL), query.format(**_SQLITE), **types)


def database_moment(at: datetime) -> object:
    """Return a datetime as the database expects it in these statements."""
    return connection.ops.adapt_datetimefield_value(at)


class SubmittedRow(NamedTuple):
    """A row of `SUBMITTED`: an instance, its current judgment, and what its item has, repeated.

    SQLite returns times as text and flags as 0 or 1.
    """

    instance: int
    judgment: int | None
    assessor: int | None
    key: UUID | str | None
    topic: int
    is_done: bool
    is_closed: bool
    is_assigned: bool
    guideline: int | None
    scale: str
    pool: int | None
    has_role: bool
    held_since: datetime | str
    sent_labels: str | None
    is_set_aside: bool
    has_text: bool


# The item that labels are submitted for. Without it: +143%.
SUBMITTED = _planned(
    "submitted_item",
    f"""
    SELECT instance.id, judgment.id, judgment.assessor_id, judgment.key,
        item.topic_id, item.done_at IS NOT NULL,
        {_CLOSED}, CASE WHEN item.assessor_id IS NULL
            THEN item.topic_id IN ({ASSIGNED % "%(user)s"}) ELSE item.assessor_id = %(user)s END, (
            SELECT guideline.id FROM assessment_guideline guideline
            WHERE guideline.task_id = pool.task_id AND guideline.version = %(guideline)s
        ), pool.scale, CASE WHEN item.assessor_id IS NOT NULL THEN pool.id END, {_HAS_ROLE},
        {_SINCE}, {_WORK_SINCE}, item.later_at IS NOT NULL
            OR (item.leased_to_id = %(user)s AND item.leased_until > %(until)s), {_HAS_TEXT}
    FROM assessment_poolitem item
    JOIN assessment_pool pool ON pool.id = item.pool_id
    JOIN assessment_poolinstance instance ON instance.item_id = item.id
    LEFT JOIN assessment_judgment judgment
        ON judgment.instance_id = instance.id AND judgment.is_current
    WHERE item.id = %(item)s {{lock_item}}
""",  # noqa: S608  # our words
    user="bigint",
    guideline="integer",
    item="bigint",
    since="timestamptz",
    at="timestamptz",
    until="timestamptz",
)


class ShownRow(NamedTuple):
    """A row of `SHOWN` and `NEXT`: what an item has, repeated, and an instance with its post."""

    item: int
    kind: str
    position: int
    text: str
    is_done: bool
    is_skipped: bool
    hides_threads: bool
    is_alone: bool
    is_corrected: bool
    instance: int
    doc_id: str
    post_id: str
    judgment: int | None
    post: int | None
    post_values: tuple[object, ...]

    @classmethod
    def of(cls, values: tuple[object, ...]) -> "ShownRow":
        """Return a row, whose last values are those of `POST_COLUMNS`."""
        named = len(cls._fields) - 1
        return cls._make((*values[:named], values[named:]))


# An item by its id. Not for speed: its rows are those of the next item.
SHOWN = _planned(
    "shown_item",
    _SHOWN.format(
        which="%(item)s AND item.topic_id = %(topic)s "
        f"AND ((%(pool)s IS NULL AND {_OFFICIAL}) OR ({_IN_ROUND}))"
    ),
    item="bigint",
    topic="bigint",
    pool="bigint",
    user="bigint",
)


def _next(name: str, whose: str) -> list[Planned]:
    """Return the statements for the next waiting and the next skipped item."""
    types = dict.fromkeys(("topic", "pool", "user"), "bigint")
    types |= {"have": "bigint[]", "at": "timestamptz"}
    firsts = {key: _FIRST.format(whose=whose, order=order) for key, order in _ORDERS.items()}
    return [
        _planned(f"{name}_{key}", _SHOWN.format(which=first), **types)
        for key, first in firsts.items()
    ]


# The next item; what was skipped comes last. Without it: +91%. One statement for both rounds would
# keep PostgreSQL from reading the items in the order of the index: +20%.
NEXT = _next("next", _OFFICIAL)
NEXT_IN_ROUND = _next("next_in_round", _IN_ROUND)

FINISH_AND_LEASE = {
    is_judged: _planned(
        name,
        _FINISH_AND_LEASE.format(is_judged=is_judged),
        next="bigint",
        item="bigint",
        user="bigint",
        at="timestamptz",
        until="timestamptz",
    )
    for is_judged, name in (("TRUE", "finish_item"), (ALL_JUDGED, "finish_instances"))
}
