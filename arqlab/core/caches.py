"""Caches: computed values, and Redis with a fallback for when it is down.

Django's default cache counts wrong passwords. It is a table of the database, so nothing that is
computed can push a count out of it (see the settings).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar, cast

from django.core.cache import BaseCache, caches
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from django.utils.connection import ConnectionProxy

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


def key_of(name: str, *facts: object) -> str:
    """Return the key of what is computed from these facts: it changes with each of them.

    A name that ends with a number has the version of the computation: increase it with every
    change, so that nothing old is read.
    """
    digest = sha256()
    for fact in facts:
        digest.update(fact if isinstance(fact, bytes) else repr(fact).encode())
    return f"{name}:{digest.hexdigest()}"


def cached_value(key: str, compute: Callable[[], Kept], *, seconds: int | None = DAY) -> Kept:
    """Return a value from the cache; compute one that is not there, and keep it if it is not None.

    Without `seconds`, it is kept as long as there is room.
    """
    return cast(Kept, known_value(key, compute, seconds=seconds))


def known_value(
    key: str, compute: Callable[[], Kept] | None, *, seconds: int | None = DAY
) -> Kept | None:
    """Return the same; without `compute`, a value that is not in the cache is None."""
    value: Kept | None = computed_values.get(key)
    if value is None and compute and (value := compute()) is not None:
        computed_values.set(key, value, timeout=seconds)
    return value


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

    add = _or_memory("add")
    get = _or_memory("get")
    set = _or_memory("set")
    touch = _or_memory("touch")
    delete = _or_memory("delete")
    get_many = _or_memory("get_many")
    has_key = _or_memory("has_key")
    incr = _or_memory("incr")
    set_many = _or_memory("set_many")
    delete_many = _or_memory("delete_many")
    clear = _or_memory("clear")
