"""Rows in lists of a size: as many as one statement takes, or as memory should hold."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Each = TypeVar("Each")


def in_slices(rows: Iterable[Each], *, size: int) -> Iterator[list[Each]]:
    """Return rows in lists of `size`, the last one shorter; nothing for no rows. They are read as
    they are asked for.
    """
    rest = iter(rows)
    while part := list(islice(rest, size)):
        yield part
