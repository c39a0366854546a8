"""Computed values that are kept: by what they are computed from, or for a while.

A value is kept under all that it is computed from (`cached_value`), so that it never gets old; one
that changes with every judgment may be a minute old (`recent_value`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar, cast, overload

from django.conf import settings
from django.core.cache import BaseCache, caches
from django.utils import timezone
from django.utils.connection import ConnectionProxy

import arqkit
from arqlab.apps import lab_apps

computed_values = cast(BaseCache, ConnectionProxy(caches, "computed"))
"""What can be computed again, such as scores. A full cache forgets some of it."""
request_counts = cast(BaseCache, ConnectionProxy(caches, "requests"))
"""How often each user and each address asked the API."""
DAY = 24 * 60 * 60
"""Seconds."""
Value = TypeVar("Value")

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


@overload
def cached_value(
    key: str, compute: Callable[[], Value], *, work: float, seconds: int | None = DAY
) -> Value: ...


@overload
def cached_value(
    key: str, compute: Callable[[], Value] | None, *, work: float, seconds: int | None = DAY
) -> Value | None: ...


def cached_value(
    key: str, compute: Callable[[], Value] | None, *, work: float, seconds: int | None = DAY
) -> Value | None:
    """Return a value from the cache; compute and keep one that is not there.

    Without `compute`, a value that is not in the cache is None. `work` is about how many seconds it
    takes to compute. Pages compute for at most `AT_ONCE`, and raise `NotComputedError` for more.
    Without `seconds`, it is kept as long as there is room.
    """
    value = computed_values.get(key, _MISSING)
    if value is _MISSING:
        if compute is None:
            return None
        require_time(key, work)
        value = compute()
        computed_values.set(key, value, KEPT_NOTHING if value is None else seconds)
    return cast(Value, value)


class Recent(NamedTuple, Generic[Value]):
    """A value, and the time of the state that it was computed from if that has changed since."""

    value: Value
    as_of: datetime | None = None


def recent_value(
    key: str, state: object, compute: Callable[[], Value] | None, *, work: float
) -> Recent[Value]:
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
        return Recent(cast(Value, None))
    require_time(key, work)
    as_of, value = timezone.now(), compute()
    computed_values.set(key, (state, as_of, value), DAY)
    return Recent(value)
