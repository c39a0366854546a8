"""Words of sentences: numbers of things, lists of names, and times."""

from collections.abc import Sequence
from datetime import datetime

from arqkit.topics import visible

MOST_NAMES = 5
"""The number of names that a sentence lists."""


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number with the singular or the plural (by default with an s): `1,200 runs`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def name_list(names: Sequence[str]) -> str:
    """Return the first names with their invisible characters, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(map(visible, names[:MOST_NAMES])) + (f" and {more:,} more" if more > 0 else "")


def utc_text(at: datetime) -> str:
    """Return a time for readers, such as `3 May 2022, 11:59 UTC`."""
    return f"{at.day} {at:%B %Y, %H:%M} UTC"
