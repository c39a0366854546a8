"""Errors of requests about judging."""

from arqlab.core.errors import UserError


class JudgingError(UserError):
    """An error that refuses a request to the judging API, so that nothing is stored."""
