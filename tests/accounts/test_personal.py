"""What a person can see, take along and delete of what is stored about them."""

import json

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.contrib.auth import get_user
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arqlab.accounts.services.personal import SECRETS, delete_account
from arqlab.accounts.services.tokens import create_token
from arqlab.core.models import Membership, User
from arqlab.notices.models import Invitation
from arqlab.notices.services.invitations import invite_people
from assessment.models import Judgment
from tests.assessment.factories import judge, make_pool
from tests.desk.views.test_home import text_of
from tests.factories import PASSWORD


def sign_in(person: User, **headers: str) -> Client:
    """Sign in through the page, confirm the password as before a change of the account, and return
    the browser.
    """
    client = Client(headers=headers)
    form = {"login": person.username, "password": PASSWORD}
    assert client.post(reverse("account_login"), form).status_code == 302
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return client


@pytest.fixture
def judgment(scene) -> Judgment:
    """A judgment of the assessor."""
    instance = make_pool(scene.task, {"A.1": ["10"]}).items.get().instances.get()
    return judge(scene.assessor, instance, 3)


def test_the_history_shows_sign_ins_with_address_and_browser_and_who_changed_roles(
    scene, client_of
):
    client = sign_in(scene.member, user_agent="Elinks")
    create_token(user=scene.member, name="script", scope="read", days=1, at=timezone.now())

    page = text_of(client.get(reverse("accounts:account-history")))

    for word in ("person.sign-in", "Elinks", "127.0.0.1", "token.create"):
        assert word in page
    other = text_of(client_of(scene.organizer).get(reverse("accounts:account-history")))
    assert "Elinks" not in other


def test_a_person_gets_every_row_that_names_them_without_secrets(judgment, client_of):
    person = judgment.assessor

    data = client_of(person).get(reverse("accounts:account-data")).json()

    assert data["core.User"][0]["username"] == person.username
    assert len(data["assessment.Judgment (assessor)"]) == 1
    text = json.dumps(data)
    assert person.password not in text
    assert {
        (model, field.name) for model in apps.get_models() for field in model._meta.fields
    } >= SECRETS


def test_a_deleted_account_keeps_its_judgments_under_a_pseudonym(judgment, client_of):
    person = judgment.assessor
    name, address = person.username, person.email
    client = sign_in(person)

    client.post(reverse("accounts:account-delete"))

    assert not get_user(client).is_authenticated
    kept = User.objects.get(pk=person.pk)
    assert kept.username.startswith("deleted-")
    judgment.refresh_from_db()
    assert judgment.assessor == kept
    assert not Membership.objects.filter(user=kept).exists()
    assert not EmailAddress.objects.filter(user=kept).exists()
    refused = Client().post(reverse("account_login"), {"login": name, "password": PASSWORD})
    assert refused.status_code != 302
    for model in apps.get_models():
        stored = json.dumps(list(model._base_manager.values()), default=str)
        assert f'"{name}"' not in stored, model
        assert not address or address not in stored, model


def test_two_people_with_open_invitations_of_one_lab_can_be_deleted(scene):
    people = [scene.member, scene.other_member]
    addresses = [person.email for person in people]
    invite_people(
        lab=scene.lab, addresses=addresses, role="assessor", team=None, by=scene.organizer
    )

    for person in people:
        delete_account(user=person, by=None)

    known = Invitation.objects.values_list("address", flat=True)
    assert len(known) == 2
    assert not set(known) & set(addresses)


def test_the_last_organizer_of_a_lab_stays(scene, client_of):
    client = sign_in(scene.organizer)

    page = client.post(reverse("accounts:account-delete"))

    assert page.status_code == 422
    assert "last organizer" in text_of(page)
    assert User.objects.get(pk=scene.organizer.pk).is_active
