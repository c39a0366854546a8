"""Faults inside polars that are no exceptions of the usual kind.

Where polars meets a fault of its own it raises PanicException, a BaseException: `except Exception`
lets it through, and a worker that means to log a fault and try again would end instead.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl


class EngineFailedError(RuntimeError):
    """Polars met a fault of its own: nobody's file is to blame, and another try may succeed."""


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Raise EngineFailedError for a panic of polars; KeyboardInterrupt and SystemExit pass. Also
    serves as a decorator.
    """
    try:
        yield
    except pl.exceptions.PanicException as panic:
        raise EngineFailedError(f"polars failed: {panic}") from panic
