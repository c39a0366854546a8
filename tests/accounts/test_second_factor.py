"""The second factor of organizers and administrators, from its set-up to its loss."""

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arqlab.accounts.services.tokens import create_token
from arqlab.core.models import AuditEvent
from tests.accounts.test_personal import sign_in
from tests.desk.views.test_home import text_of
from tests.factories import PASSWORD
from tests.test_access import ALLAUTH
from tests.test_no_database import paths


def code_of(secret: str) -> str:
    """Return the code that an authenticator app shows now."""
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30))


@pytest.fixture
def signed_in(scene):
    """The browser of the organizer, who has just signed in and confirmed the password."""
    return sign_in(scene.organizer)


def set_up(client):
    """Set up an authenticator app."""
    page = text_of(client.get(reverse("mfa_activate_totp")))
    secret = re.search(r'id="second-factor-key">(\w+)<', page)[1]
    done = client.post(reverse("mfa_activate_totp"), {"code": code_of(secret)})
    assert done.status_code == 302


def test_a_password_alone_opens_no_account_with_a_second_factor(scene, signed_in):
    set_up(signed_in)
    client = Client()
    form = {"login": scene.organizer.username, "password": PASSWORD}

    asked = client.post(reverse("account_login"), form)

    assert asked["Location"] == reverse("mfa_authenticate")
    assert client.get(reverse("accounts:account")).status_code == 302
    wrong = client.post(reverse("mfa_authenticate"), {"code": "000000"})
    assert "Incorrect code" in text_of(wrong)
    recovery = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]
    client.post(reverse("mfa_authenticate"), {"code": recovery})
    assert client.get(reverse("accounts:account")).status_code == 200


@pytest.mark.parametrize("who", ["organizer", "superuser"])
def test_organizers_and_administrators_must_have_one_where_it_is_demanded(
    scene, who, client_of, settings
):
    settings.SECOND_FACTOR = True
    person = getattr(scene, who)
    client = client_of(person)
    token = create_token(user=person, name="script", scope="read", days=1, at=timezone.now())

    assert client.get("/")["Location"] == reverse("mfa_activate_totp")
    for name, path in paths():
        answer = client.get(path)
        if not name.startswith(ALLAUTH) and "api-judging" not in name:
            refused = answer.status_code in (403, 405)
            assert refused or answer["Location"] == reverse("mfa_activate_totp"), name
    with_token = Client().get("/api/v1/labs/", headers={"Authorization": f"Bearer {token}"})
    assert with_token.json()["code"] == "no-second-factor"
    set_up_directly(person)
    assert client.get("/").status_code == 200
    assert client.get("/api/v1/labs/").status_code == 200


def set_up_directly(person):
    """Store an authenticator app, as the page does."""
    Authenticator.objects.create(user=person, type="totp", data={"secret": "A" * 16})


def test_assessors_and_teams_need_none(scene, client_of, settings):
    settings.SECOND_FACTOR = True

    assert client_of(scene.member).get("/").status_code == 200
    assert Client().get("/").status_code == 200


def test_the_administrator_removes_a_lost_one(scene, capsys):
    set_up_directly(scene.organizer)

    call_command("remove_second_factor", scene.organizer.username)

    assert "was removed" in capsys.readouterr().out
    assert not Authenticator.objects.exists()
    assert AuditEvent.objects.get(verb="person.remove-factor").person == scene.organizer
