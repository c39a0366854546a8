"""Sign-up, sign-in, sign-out and password reset, through the pages."""

import re

import pytest
from django.contrib.auth import get_user
from django.core import mail
from django.core.management import call_command
from django.test import Client

from arqlab.core.models import User
from tests.desk.views.test_home import text_of
from tests.factories import PASSWORD

ADA = {"email": "ada@example.org", "username": "ada", "password1": "a quiet blackboard 7"}


def test_a_user_who_signs_up_is_signed_in(db, client):
    response = client.post("/accounts/signup/", ADA)

    assert response.url == "/"
    assert get_user(client).email == "ada@example.org"


def test_signing_up_by_an_invitation_leads_to_the_team(scene, client):
    link = f"/join/{scene.team.invitation_token}/"
    page = text_of(client.get(link))
    signup = re.search(r'href="(/accounts/signup/[^"]+)"', page)[1]
    form = text_of(client.get(signup))
    assert f'name="next" value="{link}"' in form

    response = client.post("/accounts/signup/", ADA | {"next": link}, follow=True)

    assert response.redirect_chain[-1][0] == link
    assert "ada has not confirmed an email address." in text_of(client.get(link))
    call_command("confirm_address", "ada")
    client.post(link)
    assert scene.team.memberships.filter(user__username="ada").exists()


def test_an_email_address_has_one_account(scene, client):
    client.post("/accounts/signup/", ADA | {"email": scene.member.email.upper()})

    assert not User.objects.filter(username="ada").exists()


@pytest.fixture
def _sends_mail(settings):
    """The settings of a server with `EMAIL_URL`."""
    settings.SENDS_MAIL, settings.ACCOUNT_EMAIL_VERIFICATION = True, "mandatory"


def sign_up(email: str, name: str):
    """Return the pages to which signing up leads, and the subject of the email that it sends."""
    form = ADA | {"email": email, "username": name}
    response = Client().post("/accounts/signup/", form, follow=True)
    assert [message.to for message in mail.outbox] == [[email]]
    return response.redirect_chain, text_of(response), mail.outbox.pop().subject


@pytest.mark.usefixtures("_sends_mail")
def test_signing_up_tells_the_owner_of_an_address_alone_that_it_has_an_account(member):
    *known, told = sign_up(member.email, "somebody")
    *new, asked = sign_up("new@example.org", "new")

    assert [each.replace(member.email, "new@example.org") for each in known[1:]] == new[1:]
    assert known[0] == new[0] == [("/accounts/confirm-email/", 302)]
    assert (told, asked) == (
        "ArqLab: You already have an account",
        "ArqLab: Confirm your email address",
    )
    assert not User.objects.filter(username="somebody").exists()


@pytest.mark.usefixtures("_sends_mail")
def test_the_link_in_the_email_signs_in_and_leads_on(scene, client):
    team = f"/join/{scene.team.invitation_token}/"
    client.post("/accounts/signup/", ADA | {"next": team})
    assert not get_user(client).is_authenticated
    [link] = re.findall(r"https?://[^/]+(/accounts/confirm-email/\S+)", mail.outbox[0].body)

    response = client.post(link)

    assert (response.url, get_user(client).username) == (team, "ada")


@pytest.mark.parametrize("password", ["short", "password123", "ada@example.org"])
def test_a_weak_password_is_refused(db, client, password):
    assert "There is a problem" in text_of(
        client.post("/accounts/signup/", ADA | {"password1": password})
    )
    assert not User.objects.exists()


@pytest.mark.parametrize("name", ["{0.username}", "{0.email}"])
def test_a_person_signs_in_by_name_or_address_and_out_again(member, client, name):
    client.post("/accounts/login/", {"login": name.format(member), "password": PASSWORD})
    assert get_user(client) == member

    client.post("/accounts/logout/")
    assert not get_user(client).is_authenticated


def test_a_wrong_password_is_refused(member, client):
    client.post("/accounts/login/", {"login": member.username, "password": "wrong"})

    assert not get_user(client).is_authenticated


def test_a_forgotten_password_is_reset_by_the_link_in_the_message(member, client):
    client.post("/accounts/password/reset/", {"email": member.email})
    link = re.search(r"https?://[^/]+(/accounts/password/reset/key/\S+)", mail.outbox[0].body)[1]
    form = client.get(link, follow=True)
    address = form.redirect_chain[-1][0]

    client.post(address, {"password1": "another blackboard 9", "password2": "another blackboard 9"})

    assert mail.outbox[0].to == [member.email]
    assert client.login(username=member.username, password="another blackboard 9")


def test_every_email_about_an_account_is_in_our_words(member, client, settings):
    settings.SENDS_MAIL, settings.SITE_URL = True, "https://lab.example.org"
    for address in (member.email, "nobody@example.org"):
        client.post("/accounts/password/reset/", {"email": address})
    response = client.post("/accounts/signup/", ADA, follow=True)

    reset, unknown, confirmation = mail.outbox
    assert reset.subject == "ArqLab: Reset your password"
    assert f"of your ArqLab account {member.username}. If that was you" in reset.body
    assert unknown.subject == "ArqLab: No account for this address"
    assert "https://lab.example.org/accounts/signup/" in unknown.body
    assert confirmation.subject == "ArqLab: Confirm your email address"
    assert re.search(r"https://lab.example.org/accounts/confirm-email/\S+/\n", confirmation.body)
    assert "We have sent a confirmation link to ada@example.org." in text_of(response)
    assert all(message.body.endswith("\n\n-- \nArqLab, lab.example.org") for message in mail.outbox)


def test_no_email_about_an_account_leads_to_the_host_that_the_request_named(member, client):
    there = {"headers": {"host": "evil.example"}}
    for address in (member.email, "nobody@example.org"):
        client.post("/accounts/password/reset/", {"email": address}, **there)
    client.post("/accounts/signup/", ADA, **there)

    assert len(mail.outbox) == 3
    for message in mail.outbox:
        assert "evil.example" not in message.body
        assert message.body.count("http://127.0.0.1:8000/accounts/") == 1


def test_without_a_mail_server_no_page_claims_that_email_was_sent(member, client):
    page = client.post("/accounts/password/reset/", {"email": member.email}, follow=True)
    assert "Nothing was sent, because this server sends no email." in text_of(page)
    assert "Nothing was sent" in text_of(client.get("/accounts/confirm-email/"))

    page = client.post("/accounts/signup/", ADA, follow=True)
    assert "confirmation" not in text_of(page)
    addresses = text_of(client.get("/accounts/email/"))
    assert (
        "This server sends no email, so ask its administrator to confirm your address." in addresses
    )
    assert "Resend confirmation" not in addresses


def test_the_password_reset_does_not_reveal_accounts(db, client):
    response = client.post("/accounts/password/reset/", {"email": "nobody@example.org"})

    assert response.url == "/accounts/password/reset/done/"
