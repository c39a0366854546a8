"""What the judging page is told when something is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arqlab.core.errors import UserError


class RequestProblem(NamedTuple):
    """One thing that is wrong with what was sent: in which instance (None: in all of it) and field,
    and what to do.
    """

    instance: int | None
    field: str
    found: str
    expected: str
    todo: str


class JudgingError(UserError):
    """What was sent cannot be taken. `problems` are all that were found, at once; nothing was
    stored.
    """

    def __init__(self, message: str, *, code: str, problems: Iterable[RequestProblem] = ()) -> None:
        super().__init__(message, code=code)
        self.problems = tuple(problems)
