"""Errors with a message for the user."""


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
