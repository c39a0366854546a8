"""Rows that are read some at a time, without a query that stays open in between.

On SQLite, a connection whose query is not read to its end sees the database as it was when the
query began. As soon as another connection writes, such as the heartbeat of the job, the first one
may write no more. On PostgreSQL, an open cursor is lost with its connection.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from django.db import connection, transaction
from django.db.models import Expression, Model, QuerySet

from arqlab.core.sqlite3.base import only_reading

CHUNK = 1_000
"""Rows in memory at a time, if the caller names no number."""
Row = TypeVar("Row", bound=Model)


def rows_in_chunks(rows: QuerySet[Row], *, size: int | None = None) -> Iterator[Row]:
    """Yield rows in the order of their keys, from a query for each `size` of them."""
    ahead = rows = rows.order_by("pk")
    is_last, size = False, size or CHUNK
    while not is_last:
        chunk = list(ahead[:size])
        yield from chunk
        if not (is_last := len(chunk) < size):
            ahead = rows.filter(pk__gt=chunk[-1].pk)


def values_in_chunks(
    rows: QuerySet[Row], *fields: str | Expression, size: int | None = None
) -> Iterator[tuple[Any, ...]]:
    """Yield values of rows in the order of their keys, from a query for each `size` of them."""
    ahead = rows = rows.order_by("pk")
    is_last, size = False, size or CHUNK
    while not is_last:
        chunk = list(ahead.values_list("pk", *fields)[:size])
        yield from (cast(tuple[Any, ...], row[1:]) for row in chunk)
        if not (is_last := len(chunk) < size):
            ahead = rows.filter(pk__gt=chunk[-1][0])


@contextmanager
def snapshot() -> Iterator[None]:
    """Let all queries see the database at one moment, while others write. Nothing may be written.

    Within a transaction, it is that transaction.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "sqlite":
        with only_reading(), transaction.atomic():
            yield
    else:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
