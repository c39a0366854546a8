"""Errors of requests to the judging API."""

from arqlab.core.errors import UserError


class JudgingError(UserError):
    """An error that refuses a request, so that nothing is stored."""
