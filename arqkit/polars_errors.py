"""Internal failures of polars as ordinary exceptions.

Polars reports an internal failure as PanicException, a BaseException. `except Exception` does not
catch it, so a worker that should log the failure and retry would exit instead.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl


class EngineFailedError(RuntimeError):
    """An internal failure of polars; no user's file is at fault, and a retry may succeed."""


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Raise EngineFailedError for a panic of polars; also works as a decorator.

    KeyboardInterrupt and SystemExit pass unchanged.
    """
    try:
        yield
    except pl.exceptions.PanicException as panic:
        raise EngineFailedError(f"polars failed: {panic}") from panic
