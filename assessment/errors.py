"""Errors of requests about judging, with their sentences from refusals.toml."""

from arqlab.core.errors import UserError, errors_of

assessment_error = errors_of(__file__)


class JudgingError(UserError):
    """An error that refuses a request to the judging API, so that nothing is stored."""


judging_error = errors_of(__file__, JudgingError)
