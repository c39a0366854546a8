"""Whether this server can do its work: each check returns None or what is wrong and how to mend it.

`/health/ready` and `manage.py doctor` ask these.
"""

import time
from collections.abc import Callable, Mapping
from functools import lru_cache

from django.conf import settings
from django.core.cache import cache as counts
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from arqlab.core.errors import Fault
from arqlab.core.files import kept
from arqlab.core.selectors import room_for_files
from arqlab.core.services.schema import schema_fault

HEARTBEAT = "heartbeat"
LONGEST_PAUSE = 120
"""Seconds without a scheduled task after which its workers are missing or too busy."""
KEPT_FOR = 0.5
"""Seconds for which a process repeats its last answer, however often it is asked."""
BESIDE_REQUESTS = {"broker", "workers", "disk"}
"""The checks that may fail while requests succeed: jobs wait, or uploads are refused."""


def check_database() -> Fault | None:
    """Return a fault if the database does not answer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return None


def check_migrations() -> Fault | None:
    """Return a fault if migrations of this version were not run."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not plan:
        return None
    return Fault(f"{len(plan)} migrations were not run, first {plan[0][0]}.", "Run `migrate`.")


def check_schema() -> Fault | None:
    """Return a fault if the tables are not those that the recorded migrations make."""
    return schema_fault(connection)


def check_broker() -> Fault | None:
    """Return a fault if Redis is used and does not answer."""
    if settings.EMBEDDED:
        return None
    from redis import Redis, RedisError

    try:
        with Redis.from_url(
            settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1
        ) as redis:
            redis.ping()
    except RedisError as error:
        return Fault(f"Redis does not answer: {error}.", "Start it, or correct REDIS_URL.")
    return None


def record_heartbeat() -> None:
    """Store that scheduled tasks run now; one of them calls this."""
    counts.set(HEARTBEAT, time.time(), timeout=None)


def check_schedule() -> Fault | None:
    """Return a fault if no scheduled task has run of late."""
    last = counts.get(HEARTBEAT)
    if last and time.time() - last <= LONGEST_PAUSE:
        return None
    what = f"for {time.time() - last:,.0f} s" if last else "yet"
    todo = "Start the web server." if settings.EMBEDDED else "Start Celery beat and a worker."
    return Fault(f"No scheduled task has run {what}.", f"{todo} If it runs, read its log.")


def check_disk() -> Fault | None:
    """Return a fault if the disk of the files takes no more."""
    if room_for_files():
        return None
    return Fault(
        f"The disk of {settings.MEDIA_ROOT} has no room for uploads.",
        "Free or add at least a gigabyte.",
    )


def check_storage() -> Fault | None:
    """Return a fault if the storage of the files cannot be used."""
    try:
        kept.require()
    except OSError as error:
        todo = "Start the object storage, or correct ARQLAB_S3_BUCKET and the variables of boto3."
        return Fault(f"The files cannot be reached: {error}.", todo)
    return None


READINESS: Mapping[str, Callable[[], Fault | None]] = {
    "database": check_database,
    "migrations": check_migrations,
    "schema": check_schema,
    "broker": check_broker,
    "workers": check_schedule,
    "disk": check_disk,
    "files": check_storage,
}


def or_fault(check: Callable[[], Fault | None]) -> Fault | None:
    """Return the result of a check; a database that does not answer is a fault."""
    try:
        return check()
    except DatabaseError as error:
        message = f"The database does not answer: {' '.join(str(error).split())}"
        return Fault(message, "Start the database, or correct DATABASE_URL.")


def readiness() -> dict[str, Fault | None]:
    """Return the result of each check that this server needs to do its work."""
    return {name: or_fault(check) for name, check in READINESS.items()}


def recent_readiness(
    check_pages: Callable[[], Fault | None] | None = None,
) -> dict[str, Fault | None]:
    """Return the same, and perhaps whether pages answer, at most `KEPT_FOR` seconds old: strangers
    may ask at any rate.
    """
    return _readiness_at(int(time.monotonic() / KEPT_FOR), check_pages)


@lru_cache(maxsize=2)  # one with pages, one without
def _readiness_at(
    moment: int, check_pages: Callable[[], Fault | None] | None
) -> dict[str, Fault | None]:
    faults = readiness()
    if check_pages is None:
        return faults
    # Without a database no page answers, and each that is asked would write a line to the log.
    return faults | {"pages": faults["database"] or or_fault(check_pages)}
