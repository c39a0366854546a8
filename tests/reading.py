"""Reading never writes: a database that refuses writes while a GET or HEAD request is answered.

`arqlab.core.visits` lists what is written after the page was made.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from psycopg2.extensions import TRANSACTION_STATUS_INERROR

_INDEX = "builds the index of a small collection that is not indexed yet"
_LEASES = "leases the item that it shows"
WRITING_PAGES = {
    "assessment:judge": _LEASES,
    "assessment:round-judge": _LEASES,
    "assessment:api-judging-next": _LEASES,
    "assessment:api-judging-item": _LEASES,
    "assessment:round-api-judging-next": _LEASES,
    "assessment:round-api-judging-item": _LEASES,
    "collection:formula-detail": _INDEX,
    "collection:post-list": _INDEX,
    "assessment:guideline-entry-add": _INDEX,
    "account_confirm_email": "signs out another account (allauth)",
}
"""The pages that write while a GET request is answered, and why."""
CACHE_TABLES = ("core_typesetformula",)
"""The tables of what a page computes if it is missing, and stores for the next one."""
SAFE = ("GET", "HEAD", "OPTIONS")
# A session ends when its account was deactivated or has another password.
LISTED = (*(f'INSERT INTO "{table}"' for table in CACHE_TABLES), 'DELETE FROM "django_session"')


class RefuseWrites:
    """The innermost middleware of the tests."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in SAFE or _name(request) in WRITING_PAGES:
            return self.get_response(request)
        with refused_writes():
            return self.get_response(request)


def _name(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).view_name
    except Resolver404:
        return ""


@contextmanager
def refused_writes() -> Iterator[None]:
    """Refuse writes to the database, with statements that no test counts."""
    connection.ensure_connection()
    if not connection.in_atomic_block:
        with transaction.atomic(), refused_writes():
            yield
        return
    refuse = _refused_by_sqlite if connection.vendor == "sqlite" else _refused_by_postgresql
    held = _Held()
    with connection.execute_wrapper(held), refuse():
        yield
    held.write()


class _Held:
    """The listed writes of a page, which are made after it."""

    def __init__(self) -> None:
        self.writes: list[tuple[str, Any, bool]] = []

    def __call__(
        self,
        execute: Callable[..., Any],
        sql: str,
        params: Any,
        many: bool,
        context: dict[str, Any],
    ) -> Any:
        if not sql.startswith(LISTED):
            return execute(sql, params, many, context)
        self.writes.append((sql, params, many))
        return None

    def write(self) -> None:
        """Make the writes, without counting them as queries of the page a second time."""
        logs, connection.force_debug_cursor = connection.force_debug_cursor, False
        with connection.cursor() as cursor:
            for sql, params, many in self.writes:
                (cursor.executemany if many else cursor.execute)(sql, params)
        connection.force_debug_cursor = logs


@contextmanager
def _refused_by_sqlite() -> Iterator[None]:
    raw = connection.connection
    raw.execute("PRAGMA query_only = 1")
    try:
        yield
    finally:
        raw.execute("PRAGMA query_only = 0")


@contextmanager
def _refused_by_postgresql() -> Iterator[None]:
    """Refuse writes until the end of a savepoint. It is kept for cursors that are still read."""
    raw = connection.connection
    with raw.cursor() as cursor:
        cursor.execute("SAVEPOINT reading; SET TRANSACTION READ ONLY")
        try:
            yield
        finally:
            if raw.get_transaction_status() == TRANSACTION_STATUS_INERROR:
                cursor.execute("ROLLBACK TO SAVEPOINT reading")
            cursor.execute("RELEASE SAVEPOINT reading")
