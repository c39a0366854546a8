"""Errors with a message for the user."""

from collections.abc import Iterable
from typing import NamedTuple

from arqkit.loads import LoadChanges


class Fault(NamedTuple):
    """What is wrong with a server, and what to do."""

    found: str
    todo: str


class RequestProblem(NamedTuple):
    """One problem of a request in a field of an instance; None means the whole request."""

    instance: int | None
    field: str
    found: str
    expected: str
    todo: str


class UserError(Exception):
    """A request that cannot be fulfilled; the message says what to do. `problems` lists details."""

    def __init__(
        self, message: str, *, code: str = "refused", problems: Iterable[RequestProblem] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.problems = tuple(problems)


def require_text(text: str, what: str, *, most: int, todo: str) -> None:
    """Raise `UserError` for a text, such as "The note", that is `empty` or `too-long`."""
    if not text.strip():
        raise UserError(f"{what} is empty. {todo}", code="empty")
    if len(text) > most:
        raise UserError(
            f"{what} has {len(text):,} characters. Shorten it to at most {most:,}.", code="too-long"
        )


def error_body(
    message: str, code: str, problems: Iterable[RequestProblem] = ()
) -> dict[str, object]:
    """Return the JSON of every error: a message for people, a code for programs, all problems."""
    return {"message": message, "code": code, "errors": [problem._asdict() for problem in problems]}


class ConfirmationError(UserError):
    """A request that is carried out only if the user confirms it.

    `question` is the label of the checkbox on the page. A service accepts True or this text as the
    confirmation, so that a confirmation counts only for what the user was asked.
    """

    def __init__(self, message: str, *, code: str, question: str) -> None:
        super().__init__(message, code=code)
        self.question = question


class UnconfirmedLoadError(UserError):
    """A load would change stored data, and the organizer has not confirmed it."""

    def __init__(self, changes: LoadChanges) -> None:
        super().__init__(
            "Nothing was loaded yet, because this load would change stored data. Check the "
            "changes, then confirm them.",
            code="unconfirmed",
        )
        self.changes = changes


def require_confirmed(changes: LoadChanges, confirmed: bool | str) -> None:
    """Raise `UnconfirmedLoadError` if a load would change stored data without a confirmation.

    True confirms everything. A digest confirms only the changes that it was computed from: if the
    stored data have changed since then, the organizer is asked again.
    """
    if changes.asks and confirmed is not True and confirmed != changes.digest:
        raise UnconfirmedLoadError(changes)
