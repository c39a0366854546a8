"""Whose turn it is: workers take what waits in turns, so that much from one delays nobody."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TypeVar

T = TypeVar("T")
NEVER = datetime.min.replace(tzinfo=UTC)


def in_turns(
    waiting: Iterable[tuple[T, object]],
    *,
    running: Iterable[object] = (),
    served: Mapping[object, datetime | None] | None = None,
) -> list[T]:
    """Return what waits, each with its owner, in the order in which workers take it.

    The next is always one of the owner with the fewest in progress; among those, of the owner who
    was served longest ago; and of each owner the one that waited longest, which comes first in
    `waiting`. `running` has the owner of each in progress, and `served` when an owner's last was
    done.
    """
    ahead, last = Counter(running), served or {}
    turns = []
    for place, (item, owner) in enumerate(waiting):
        turns.append((ahead[owner], last.get(owner) or NEVER, place, item))
        ahead[owner] += 1
    return [turn[3] for turn in sorted(turns, key=lambda turn: turn[:3])]
