"""Errors with a message for the user."""

from arqkit.loads import LoadChanges


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


class UnconfirmedLoadError(UserError):
    """A load that would change something stored, which the organizer has not confirmed."""

    def __init__(self, changes: LoadChanges) -> None:
        super().__init__(
            "Nothing was loaded yet, because this load would change what is stored. Check the "
            "changes, then confirm them.",
            code="unconfirmed",
        )
        self.changes = changes


def require_confirmed(changes: LoadChanges, confirmed: bool | str) -> None:
    """Raise `UnconfirmedLoadError` if a load would change what is stored without a confirmation.

    True confirms everything. A digest confirms the changes that it was made of and no others: if
    what is stored has changed since then, the organizer is asked again.
    """
    if changes.asks and confirmed is not True and confirmed != changes.digest:
        raise UnconfirmedLoadError(changes)
