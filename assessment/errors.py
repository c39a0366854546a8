"""Errors of requests to the judging API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arqlab.core.errors import UserError


class RequestProblem(NamedTuple):
    """One problem of a request in a field of an instance; None means the whole request."""

    instance: int | None
    field: str
    found: str
    expected: str
    todo: str


class JudgingError(UserError):
    """An error that refuses a request, so that nothing is stored. `problems` lists all problems."""

    def __init__(self, message: str, *, code: str, problems: Iterable[RequestProblem] = ()) -> None:
        super().__init__(message, code=code)
        self.problems = tuple(problems)
