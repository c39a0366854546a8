"""Errors with a message for the user."""

from typing import Any

from rest_framework import status
from rest_framework.response import Response
from rest_framework.views import exception_handler


class UserError(Exception):
    """A request that cannot be fulfilled; the message says what to do."""

    def __init__(self, message: str, *, code: str = "refused") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class ConfirmationError(UserError):
    """A request that is carried out only if the user confirms it.

    `question` is the label of the checkbox on the page. A service accepts True or this text as the
    confirmation, so that a confirmation counts only for what the user was asked.
    """

    def __init__(self, message: str, *, code: str, question: str) -> None:
        super().__init__(message, code=code)
        self.question = question


def api_exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return 409 and `{"message", "code"}` for a `UserError`, else the framework's answer."""
    if isinstance(error, UserError):
        return Response(
            {"message": error.message, "code": error.code}, status=status.HTTP_409_CONFLICT
        )
    return exception_handler(error, context)
