"""The refusals of this app, with the sentences of refusals.toml."""

from arqlab.core.errors import errors_of

submission_error = errors_of(__file__)
