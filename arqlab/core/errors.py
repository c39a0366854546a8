"""Errors that are written for the person who reads them."""

from typing import Any

from rest_framework import status
from rest_framework.response import Response
from rest_framework.views import exception_handler


class UserError(Exception):
    """Something a person asked for cannot be done. The message is a full sentence that says what to
    do instead.
    """

    def __init__(self, message: str, *, code: str = "refused") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def api_exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer a `UserError` with 409 and `{"message", "code"}`; leave all else to Django REST
    framework.
    """
    if isinstance(error, UserError):
        return Response(
            {"message": error.message, "code": error.code}, status=status.HTTP_409_CONFLICT
        )
    return exception_handler(error, context)
