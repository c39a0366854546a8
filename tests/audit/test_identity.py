"""Whoever changes who can use an account or a lab confirms who they are, at each door."""

import ast
import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.core.exceptions import ReauthenticationRequired
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, Permission
from django.core import mail
from django.test import Client, RequestFactory
from django.urls import get_resolver, reverse

from arqlab.audit.services.identity import BY_ALLAUTH, Action, require_identity
from arqlab.core.models import ApiToken, Membership, User
from arqlab.notices.models import Invitation
from tests.factories import PASSWORD, OrganizerFactory, Scene
from tests.paths import ROOT
from tests.test_structure import product_files

SECOND = "second@example.org"
CONFIRM = "/accounts/reauthenticate/"


class Door(NamedTuple):
    """A form of an action: its sender, its address and fields, and whether it was carried out."""

    action: Action
    person: str
    path: str
    fields: dict[str, str]
    is_done: Callable[[Scene], bool]
    to: str = ""
    """To whom the owner's email goes, if it is not the address of the sender."""


def has_address(address: str, **fields: bool) -> Callable[[Scene], bool]:
    return lambda scene: EmailAddress.objects.filter(email=address, **fields).exists()


def organizes(scene: Scene) -> bool:
    return Membership.objects.filter(user=scene.outsider, role="organizer").exists()


ADDRESSES, ROLE = "/accounts/email/", {"person": "outsider-arqmath-x", "role": "organizer"}
TOKEN = {"name": "laptop", "scope": "read", "days": "30"}
USER = {"username": "member-arqmath-x", "date_joined_0": "2026-11-23", "date_joined_1": "10:00"}
DOORS = {
    "add an address": Door(
        Action.ADD_ADDRESS,
        "member",
        ADDRESSES,
        {"action_add": "", "email": "new@example.org"},
        has_address("new@example.org"),
    ),
    "make an address primary": Door(
        Action.CHANGE_ADDRESS,
        "member",
        ADDRESSES,
        {"action_primary": "", "email": SECOND},
        has_address(SECOND, primary=True),
    ),
    "remove an address": Door(
        Action.REMOVE_ADDRESS,
        "member",
        ADDRESSES,
        {"action_remove": "", "email": SECOND},
        lambda scene: not has_address(SECOND)(scene),
        to=SECOND,
    ),
    "create a token": Door(
        Action.CREATE_TOKEN,
        "member",
        "/account/tokens/",
        TOKEN,
        lambda _: ApiToken.objects.exists(),
    ),
    "delete the account": Door(
        Action.DELETE_ACCOUNT,
        "outsider",
        "/account/delete/",
        {},
        lambda scene: not User.objects.filter(username=scene.outsider.username).exists(),
    ),
    "grant the role": Door(
        Action.GRANT_ORGANIZER, "organizer", "/labs/arqmath-x/people/", ROLE, organizes
    ),
    "invite an organizer": Door(
        Action.GRANT_ORGANIZER,
        "organizer",
        "/labs/arqmath-x/invitations/",
        {"addresses": "ada@example.org", "role": "organizer"},
        lambda _: Invitation.objects.exists(),
    ),
    "copy a lab with its people": Door(
        Action.GRANT_ORGANIZER,
        "organizer",
        "/labs/arqmath-x/copy/",
        {"name": "Next", "slug": "next", "with_people": "on"},
        lambda scene: Membership.objects.filter(lab__slug="next").count() > 1,
    ),
    "change an account": Door(
        Action.ADMINISTER,
        "superuser",
        "/admin/core/user/{member}/change/",
        USER | {"email": "other@example.org"},
        lambda _: User.objects.filter(email="other@example.org").exists(),
        to="member-arqmath-x@example.org",
    ),
    "set up a second factor": Door(
        Action.CHANGE_SECOND_FACTOR,
        "member",
        "/accounts/2fa/totp/activate/",
        {"code": "000000"},
        lambda _: Authenticator.objects.filter(type="totp").count() > 1,
    ),
    "remove the second factor": Door(
        Action.CHANGE_SECOND_FACTOR,
        "other_member",
        "/accounts/2fa/totp/deactivate/",
        {},
        lambda _: not Authenticator.objects.filter(type="totp").exists(),
    ),
    "make recovery codes": Door(
        Action.CHANGE_SECOND_FACTOR,
        "other_member",
        "/accounts/2fa/recovery-codes/generate/",
        {},
        lambda _: Authenticator.objects.get(type="recovery_codes").data["seed"] != "old",
    ),
}


@pytest.fixture
def ready(scene: Scene, settings) -> Scene:
    """The lab on a server with email; some accounts have a second address or a second factor."""
    settings.SENDS_MAIL = settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    EmailAddress.objects.create(user=scene.member, email=SECOND, verified=True)
    TOTP.activate(scene.other_member, generate_totp_secret())
    RecoveryCodes.activate(scene.other_member)
    Authenticator.objects.filter(type="recovery_codes").update(data={"seed": "old"})
    scene.organizer.user_permissions.add(Permission.objects.get(codename="add_lab"))
    OrganizerFactory(lab=scene.lab)
    return scene


def send(door: Door, scene: Scene) -> tuple[Client, str]:
    """Send the form with a session that has confirmed nothing; return where it leads."""
    client = Client()
    client.force_login(getattr(scene, door.person))
    answer = client.post(door.path.format(member=scene.member.pk), door.fields)
    return client, answer.headers.get("Location", "")


def test_each_action_has_a_door():
    assert {door.action for door in DOORS.values()} == set(Action)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", DOORS)
def test_a_session_alone_does_nothing_and_the_password_carries_it_out(
    ready: Scene, name: str
) -> None:
    door, person = DOORS[name], getattr(ready, DOORS[name].person)
    client, leads_to = send(door, ready)
    assert leads_to.startswith(CONFIRM)
    assert not door.is_done(ready)
    assert not mail.outbox
    if name == "set up a second factor":
        return  # tests/accounts/test_second_factor.py does

    client.post(leads_to, {"password": PASSWORD})

    assert door.is_done(ready)
    letters = [letter for letter in mail.outbox if letter.to == [door.to or person.email]]
    assert letters
    assert "If this was not you, change your password" in letters[0].body


def test_a_wrong_password_carries_nothing_out(ready: Scene) -> None:
    client, leads_to = send(DOORS["grant the role"], ready)

    client.post(leads_to, {"password": "wrong"})

    assert not organizes(ready)


def test_a_password_that_was_confirmed_long_ago_does_not_count(
    ready: Scene, client_of, settings
) -> None:
    client = client_of(ready.organizer)
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0

    assert client.post("/labs/arqmath-x/people/", ROLE).url.startswith(CONFIRM)


@pytest.mark.parametrize("role", ["assessor"])
def test_other_roles_are_granted_without_a_password(ready: Scene, role: str) -> None:
    door = DOORS["grant the role"]._replace(fields=ROLE | {"role": role})

    _, leads_to = send(door, ready)

    assert leads_to == "/labs/arqmath-x/people/"


def test_who_accepts_an_invitation_is_not_asked_for_the_organizers_password(ready: Scene) -> None:
    invitation = Invitation.objects.create(
        lab=ready.lab,
        role="organizer",
        address=ready.outsider.email,
        invited_by=ready.organizer,
        invited_at=ready.lab.created_at,
    )
    client = Client()
    client.force_login(ready.outsider)

    client.post(f"/invitations/{invitation.token}/")

    assert organizes(ready)


def test_a_token_confirms_nothing(ready: Scene) -> None:
    """A request of the API has a token and no session."""
    request = RequestFactory().post("/api/v1/labs/")
    request.user, request.session = AnonymousUser(), {}

    with context.request_context(request), pytest.raises(ReauthenticationRequired):
        require_identity(Action.GRANT_ORGANIZER, by=ready.organizer)


def test_the_api_answers_with_a_sentence(ready: Scene, monkeypatch, client_of) -> None:
    def asks(*_: object) -> None:
        raise ReauthenticationRequired

    monkeypatch.setattr("arqlab.accounts.apis.MeApi.get", asks)

    answer = client_of(ready.member).get("/api/v1/me/")

    assert (answer.status_code, answer.json()["code"]) == (403, "identity")
    assert "Sign in, open the page of this action" in answer.json()["message"]


SERVICES = {
    "create_token": {"arqlab/accounts/views/account.py"},
    "delete_account": {
        "arqlab/accounts/views/account.py",
        "arqlab/accounts/management/commands/delete_account.py",
    },
    "invite_people": {
        "arqlab/notices/views/invitations.py",
        "arqlab/notices/services/invitations.py",
    },
}
"""The services that ask, and whoever calls them; for `grant_role` see test_memberships.py."""


def test_no_other_door_leads_to_these_services() -> None:
    callers: dict[str, set[str]] = {name: set() for name in SERVICES}
    for path in product_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in callers:
                callers[ast.unparse(node.func)].add(str(path.relative_to(ROOT)))

    assert callers == SERVICES


def test_each_action_is_asked_for_by_a_service_or_by_allauth() -> None:
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in product_files()}
    asked = {
        action
        for action in Action
        for path, text in texts.items()
        if path.name != "identity.py" and f"Action.{action.name}" in text
    }

    assert asked | BY_ALLAUTH == set(Action)
    assert settings.ACCOUNT_REAUTHENTICATION_REQUIRED
    assert settings.MFA_REAUTHENTICATION_REQUIRED


def test_rows_of_accounts_are_changed_by_the_services_that_ask() -> None:
    made = re.compile(r"\b(?:ApiToken|EmailAddress|Authenticator)\.objects\.(?:\w*create)\(")
    making = {
        str(path.relative_to(ROOT))
        for path in product_files()
        if made.search(path.read_text(encoding="utf-8"))
    }

    assert making == {"arqlab/accounts/services/tokens.py", "arqlab/labs/services/people.py"}


ASKING = {
    "account_email",
    "mfa_activate_totp",
    "mfa_deactivate_totp",
    "mfa_generate_recovery_codes",
    "mfa_view_recovery_codes",
    "mfa_download_recovery_codes",
}
WITH_A_PASSWORD = {"account_change_password", "account_reauthenticate", "mfa_reauthenticate"}
SIGNED_OUT_OR_HARMLESS = {
    *("account_login", "account_logout", "account_signup", "account_inactive", "mfa_index"),
    *("account_confirm_email", "account_email_verification_sent", "account_set_password"),
    *("account_reset_password", "account_reset_password_done", "mfa_authenticate"),
    *("account_reset_password_from_key", "account_reset_password_from_key_done"),
    *("account_confirm_login_code",),
}


def test_every_page_of_allauth_is_known() -> None:
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    own = {name for name in names if name.startswith(("account_", "mfa_"))}

    assert own == ASKING | WITH_A_PASSWORD | SIGNED_OUT_OR_HARMLESS


@pytest.mark.parametrize("name", ASKING - {"account_email"})
def test_pages_of_the_second_factor_ask_first(ready: Scene, name: str) -> None:
    client = Client()
    person = ready.member if name == "mfa_activate_totp" else ready.other_member
    client.force_login(person)

    assert client.get(reverse(name)).headers["Location"].startswith(CONFIRM)


@pytest.mark.parametrize(
    "path", ["core/user/add/", "core/user/{0}/password/", "account/emailaddress/add/"]
)
def test_everything_that_administrators_send_asks(ready: Scene, path: str) -> None:
    client = Client()
    client.force_login(ready.superuser)

    answer = client.post("/admin/" + path.format(ready.member.pk), {})

    assert answer.url.startswith(CONFIRM)
