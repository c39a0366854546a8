"""The job of paper kits, for the tests of all kinds of jobs."""

from collections.abc import Callable
from typing import Any

from arqlab.core.models import Job

CASES: dict[str, Callable[[Any], Job]] = {"paper-kit": lambda ground: ground.start("paper-kit")}
