"""The caches of the settings: attempts in the database, files, Redis or the memory of a process.

Django's default cache counts wrong passwords. It is a table of the database, so nothing that is
computed can push a count out of it (see the settings).
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.core.cache.backends.filebased import FileBasedCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from django.db import DatabaseError, connections, router, transaction

from arqlab.core.faults import is_database_lost, is_disk_full

MAX_BYTES = 2**28
"""Bytes of computed files that are kept, if no option names another number."""
PAUSE = 10.0
"""The seconds for which a process does not ask Redis after it failed."""
logger = logging.getLogger(__name__)


class Attempts(DatabaseCache):
    """Counts of attempts in the database, which fail aloud if it is full or cannot be reached.

    Django returns False then, as for a lock that another process has, so that allauth would see too
    many attempts.
    """

    def _base_set(
        self, mode: str, key: str, value: object, timeout: object = DEFAULT_TIMEOUT
    ) -> bool:
        using, errors = router.db_for_write(self.cache_model_class), []

        def noting(execute: Callable[..., object], *args: object) -> object:
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

    def __init__(self, folder: str, params: dict[str, object]) -> None:
        super().__init__(folder, params)
        self._folder = Path(folder)
        options = params.get("OPTIONS")
        self._most = options.get("MAX_BYTES", MAX_BYTES) if isinstance(options, dict) else MAX_BYTES

    def _write_content(self, file: IO[bytes], timeout: object, value: object) -> None:
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


def _or_memory(name: str) -> Callable[..., object]:
    """Return a method of the cache that uses the memory of the process while Redis is down."""

    def method(self: RedisOrMemory, *args: object, **kwargs: object) -> object:
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

    def __init__(self, server: str, params: dict[str, object]) -> None:
        super().__init__(server, params)
        self.memory = LocMemCache("redis-is-down", {})


for _name in "add get set touch delete get_many has_key incr set_many delete_many clear".split():
    setattr(RedisOrMemory, _name, _or_memory(_name))
