"""Which rows of a dump are taken in (stand-in until the whole module joins)."""

from datetime import date
from typing import NamedTuple


class Window(NamedTuple):
    """From when to when posts are searched; whether later ones are kept for topics and their threads."""

    since: date | None
    until: date | None
    keep_later: bool
