"""The optional parts of the distribution, and what to install where one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Extra = Literal[
    "approach0", "archives", "client", "cluster", "figures", "measures", "models", "retrieval"
]


@contextmanager
def needs_extra(extra: Extra) -> Iterator[None]:
    """Import the packages of an extra; raise ModuleNotFoundError with what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"The package {error.name} is not installed. Run: pip install 'arqkit[{extra}]'",
            name=error.name,
        ) from error
