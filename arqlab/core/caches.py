"""Caches: computed values, and Redis with a fallback for when it is down.

Django's default cache counts wrong passwords. It is a table of the database, so nothing that is
computed can push a count out of it (see the settings).
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, cast

from django.conf import settings
from django.core.cache import BaseCache, caches
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.core.cache.backends.filebased import FileBasedCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from django.db import DatabaseError, connections, router, transaction
from django.utils import timezone
from django.utils.connection import ConnectionProxy

import arqkit
from arqlab.apps import lab_apps
from arqlab.core.faults import is_database_lost, is_disk_full

computed_values = cast(BaseCache, ConnectionProxy(caches, "computed"))
"""What can be computed again, such as scores. A full cache forgets some of it."""
request_counts = cast(BaseCache, ConnectionProxy(caches, "requests"))
"""How often each user and each address asked the API."""
DAY = 24 * 60 * 60
"""Seconds."""
PAUSE = 10.0
"""The seconds for which a process does not ask Redis after it failed."""
logger = logging.getLogger(__name__)
Kept = TypeVar("Kept")

AT_ONCE = 0.3
"""The seconds that a page may compute. What takes longer is left to a job (`core/computing.py`)."""
KEPT_NOTHING = 5 * 60
"""The seconds for which it is known that a value is None, such as that of an unreadable file."""
_MISSING = object()
_left: ContextVar[float | None] = ContextVar("seconds that a page may compute", default=None)


def key_of(name: str, *facts: object) -> str:
    """Return the key of what is computed from these facts: it changes with each of them.

    The cache adds the code that computes it (`key_of_this_code`).
    """
    digest = sha256()
    for fact in facts:
        digest.update(fact if isinstance(fact, bytes) else repr(fact).encode())
    return f"{name}:{digest.hexdigest()}"


@cache
def code_digest() -> str:
    """Return a digest of the code and the data files of the product."""
    folders = [Path(arqkit.__file__).parent, settings.BASE_DIR / "arqlab"]
    folders += [Path(app.path) for app in lab_apps()]
    paths = {path for folder in folders for path in folder.rglob("*.*")}
    digest = sha256()
    for path in sorted(path for path in paths if path.suffix in {".py", ".toml"}):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def key_of_this_code(key: str, prefix: str, version: int) -> str:
    """Return the key in the cache of a computed value.

    What other code computed is not read: its rules may have been others, and its classes may have
    moved, so that the value could not even be loaded.
    """
    return f"{code_digest()}:{key}"


class NotComputedError(Exception):
    """A page lacks a value, with its `key` in the cache, that takes longer than it may compute."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} is not computed yet. A job computes it.")
        self.key = key


@contextmanager
def computing_at_most(seconds: float | None) -> Iterator[None]:
    """Raise `NotComputedError` in this block before work beyond so many seconds; None is any."""
    token = _left.set(seconds)
    try:
        yield
    finally:
        _left.reset(token)


def require_time(key: str, work: float) -> None:
    """Take the seconds of some work from those that a page may compute.

    Raise `NotComputedError` if too few are left. Jobs and commands have any time.
    """
    seconds = _left.get()
    if seconds is None:
        return
    if work > seconds:
        raise NotComputedError(key)
    _left.set(seconds - work)


def cached_value(
    key: str, compute: Callable[[], Kept], *, work: float, seconds: int | None = DAY
) -> Kept:
    """Return a value from the cache; compute and keep one that is not there.

    `work` is about how many seconds it takes to compute. Pages compute for at most `AT_ONCE`, and
    raise `NotComputedError` for more. Without `seconds`, it is kept as long as there is room.
    """
    value = computed_values.get(key, _MISSING)
    if value is _MISSING:
        require_time(key, work)
        value = compute()
        computed_values.set(key, value, KEPT_NOTHING if value is None else seconds)
    return cast(Kept, value)


class Recent(NamedTuple, Generic[Kept]):
    """A value, and the time of the state that it was computed from if that has changed since."""

    value: Kept
    as_of: datetime | None = None


def recent_value(
    key: str, state: object, compute: Callable[[], Kept] | None, *, work: float
) -> Recent[Kept]:
    """Return a value that depends on a state which may change at any time, such as the judgments.

    Without `compute`, a value that is not in the cache is None.

    What a page may compute is always that of the state. What takes longer may be a minute old, or
    20 times as old as it takes to compute: the state may change again before a job has computed it.
    """
    entry = computed_values.get(key)
    if entry is not None:
        stored_state, as_of, value = entry
        if stored_state == state:
            return Recent(value)
        if work > AT_ONCE and timezone.now() - as_of < timedelta(seconds=max(60, 20 * work)):
            return Recent(value, as_of)
    if compute is None:
        return Recent(cast(Kept, None))
    require_time(key, work)
    as_of, value = timezone.now(), compute()
    computed_values.set(key, (state, as_of, value), DAY)
    return Recent(value)


def known_value(
    key: str, compute: Callable[[], Kept] | None, *, work: float, seconds: int | None = DAY
) -> Kept | None:
    """Return the same; without `compute`, a value that is not in the cache is None."""
    if compute is None:
        return cast(Kept | None, computed_values.get(key))
    return cached_value(key, compute, work=work, seconds=seconds)


class Attempts(DatabaseCache):
    """Counts of attempts in the database, which fail aloud if it is full or cannot be reached.

    Django returns False then, as for a lock that another process has, so that allauth would see too
    many attempts.
    """

    def _base_set(self, mode: str, key: str, value: object, timeout: Any = DEFAULT_TIMEOUT) -> bool:
        using, errors = router.db_for_write(self.cache_model_class), []

        def noting(execute: Callable[..., Any], *args: Any) -> Any:
            try:
                return execute(*args)
            except DatabaseError as error:
                errors.append(error)
                raise

        # A commit may fail too, which Django would not tell either.
        with connections[using].execute_wrapper(noting), transaction.atomic(using=using):
            done = super()._base_set(mode, key, value, timeout)  # type: ignore[misc]  # not in stubs
            for error in errors:
                if is_disk_full(error) or is_database_lost(error):
                    raise error
        return bool(done)


class ComputedFiles(FileBasedCache):
    """Files that the processes of one machine share, up to a number of bytes.

    The option `MAX_BYTES` sets it. When they are more, those that were written first are deleted.
    """

    _unchecked = math.inf  # bytes written since the size was last looked at

    def __init__(self, folder: str, params: dict[str, Any]) -> None:
        super().__init__(folder, params)
        self._folder = Path(folder)
        self._most = params.get("OPTIONS", {}).get("MAX_BYTES", 2**28)

    def _write_content(self, file: Any, timeout: Any, value: object) -> None:
        super()._write_content(file, timeout, value)  # type: ignore[misc]  # unknown to its types
        self._unchecked += file.tell()

    def _cull(self) -> None:
        if self._unchecked < self._most / 20:
            return
        self._unchecked, files = 0, []
        for path in self._folder.glob(f"*{self.cache_suffix}"):
            with suppress(FileNotFoundError):  # another process has deleted it
                files.append((path.stat().st_mtime, path.stat().st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= self._most * 0.9:
                break
            path.unlink(missing_ok=True)
            total -= size


def _or_memory(name: str) -> Callable[..., Any]:
    """Return a method of the cache that uses the memory of the process while Redis is down."""

    def method(self: RedisOrMemory, *args: Any, **kwargs: Any) -> Any:
        from redis.exceptions import RedisError  # a tenth of a second without Redis

        if time.monotonic() >= RedisOrMemory.down_until:
            try:
                return getattr(RedisCache, name)(self, *args, **kwargs)
            except RedisError as problem:
                RedisOrMemory.down_until = time.monotonic() + PAUSE
                logger.warning("Redis is not used for %d s. %s", PAUSE, problem)
        return getattr(self.memory, name)(*args, **kwargs)

    return method


class RedisOrMemory(RedisCache):
    """Redis, or while it is down or hangs, the memory of each process."""

    down_until = 0.0

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.memory = LocMemCache("redis-is-down", {})


for _name in "add get set touch delete get_many has_key incr set_many delete_many clear".split():
    setattr(RedisOrMemory, _name, _or_memory(_name))
