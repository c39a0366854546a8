"""Actions for which people confirm who they are again, whichever page or API asks for them.

The service of an action asks `require_identity`. A stolen session cannot confirm a password, and
the owner of the account reads of each action at the address that it had before.
"""

from enum import StrEnum

from allauth.account import signals
from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from allauth.account.models import EmailAddress
from allauth.core import context
from django.http import HttpRequest

from arqlab.core.models import User


class Action(StrEnum):
    """What changes who can use an account or a lab, in the words of the email to its owner."""

    ADD_ADDRESS = "An email address was added to your account"
    CHANGE_ADDRESS = "The primary email address of your account was changed"
    REMOVE_ADDRESS = "An email address was removed from your account"
    CHANGE_SECOND_FACTOR = "The second factor of your account was set up, changed or removed"
    CREATE_TOKEN = "An API token was created for your account"  # noqa: S105
    DELETE_ACCOUNT = "Your account was deleted"
    GRANT_ORGANIZER = "You made somebody an organizer or observer"
    ADMINISTER = "An administrator of the server changed your account"


BY_ALLAUTH = {
    Action.ADD_ADDRESS,
    Action.CHANGE_ADDRESS,
    Action.REMOVE_ADDRESS,
    Action.CHANGE_SECOND_FACTOR,
}
"""The actions whose services are allauth's, which ask and write by settings
(`ACCOUNT_REAUTHENTICATION_REQUIRED`, `ACCOUNT_EMAIL_NOTIFICATIONS`). It writes of no new address,
and of a removed one to the addresses that stay.
"""


def require_identity(action: Action, *, by: User, detail: str = "") -> None:
    """Ask a person to confirm who they are, if they have not done so of late, and write to them.

    Raises as `ask_identity` does. Nobody is asked in the request of somebody else in which the
    action takes effect, such as that of an invited person.
    """
    request = context.request
    if request is None or (request.user.is_authenticated and request.user.pk != by.pk):
        return
    ask_identity(request)
    write_to_owner(action, by, detail=detail)


def ask_identity(request: HttpRequest) -> None:
    """Raise `ReauthenticationRequired` unless the password or a code was confirmed of late.

    It leads to the page that asks and back to the action; the API answers 403.
    """
    raise_if_reauthentication_required(request, app="")


def write_to_owner(action: Action, owner: User, *, detail: str = "", address: str = "") -> None:
    """Write to the owner of an account what was done.

    It goes to the address that the account has now, or to another one.
    """
    if context.request is None:
        return
    what = {"what": f"{action}{': ' * bool(detail)}{detail}."}
    send = get_adapter().send_notification_mail
    send("account/email/action", owner, what, email=address or None)


def connect_addresses() -> None:
    """Write of added and removed addresses from now on."""
    signals.email_added.connect(_added, dispatch_uid=Action.ADD_ADDRESS)
    signals.email_removed.connect(_removed, dispatch_uid=Action.REMOVE_ADDRESS)


def _added(user: User, email_address: EmailAddress, request: HttpRequest, **_: object) -> None:
    write_to_owner(Action.ADD_ADDRESS, user, detail=email_address.email)


def _removed(user: User, email_address: EmailAddress, request: HttpRequest, **_: object) -> None:
    removed = email_address.email
    write_to_owner(Action.REMOVE_ADDRESS, user, detail=removed, address=removed)
