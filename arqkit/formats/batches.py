"""Split rows into lists of a size that fits into a database statement or into memory."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Each = TypeVar("Each")


def in_slices(rows: Iterable[Each], *, size: int) -> Iterator[list[Each]]:
    """Yield rows in lists of `size`, the last one shorter. Rows are read lazily."""
    rest = iter(rows)
    while part := list(islice(rest, size)):
        yield part
