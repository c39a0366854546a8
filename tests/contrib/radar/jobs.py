"""What the radar reads in chunks, for the tests of all kinds of jobs."""

from types import ModuleType

from contrib.radar.services import dismissing

SMALL: list[tuple[ModuleType, str, float]] = [(dismissing, "POSTS_AT_ONCE", 1)]
