"""API tokens, with which programs sign in instead of by a password."""

from __future__ import annotations

from base64 import b64encode
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone
from rest_framework.throttling import AnonRateThrottle

from arqlab.core.models import ApiToken, AuditEvent, User
from arqlab.core.services.tokens import create_token
from tests.factories import make_lab

pytestmark = pytest.mark.django_db
PAGE, LABS = "/account/tokens/", "/api/labs/"
PASSWORD = "a quiet blackboard"


@pytest.fixture
def scene():
    return make_lab(is_public=False)


def token_of(user, *, scope="read", days=1, at=None):
    return create_token(user=user, name="laptop", scope=scope, days=days, at=at or timezone.now())


def ask(token, path=LABS, method="get"):
    return getattr(Client(), method)(path, headers={"authorization": f"Bearer {token}"})


def upload_url(scene):
    return reverse("submissions:api-run-list", args=[scene.lab.slug, scene.task.slug])


def test_a_token_is_shown_once_and_stored_as_a_hash(scene, client_of):
    client = client_of(scene.member)
    page = client.post(PAGE, {"name": "laptop", "scope": "read", "days": "30"})
    created = page.context["created"]

    assert created in page.content.decode()
    assert created not in client.get(PAGE).content.decode()
    stored = ApiToken.objects.get(user=scene.member)
    assert created not in map(str, vars(stored).values())
    assert ask(created).json()["results"][0]["slug"] == scene.lab.slug
    assert ApiToken.objects.get().last_used_at is not None
    assert "no-store" in page["Cache-Control"]


def test_a_token_without_a_name_is_refused(scene, client_of):
    page = client_of(scene.member).post(PAGE, {"name": "", "scope": "admin", "days": "9999"})

    assert page.status_code == 422
    assert not ApiToken.objects.exists()


def test_a_program_sees_what_its_user_sees(scene):
    assert ask(token_of(scene.member)).json()["count"] == 1
    assert ask(token_of(scene.outsider)).json()["count"] == 0


def test_a_token_that_reads_changes_nothing(scene):
    assert ask(token_of(scene.member), upload_url(scene), "post").status_code == 403
    allowed = ask(token_of(scene.member, scope="write"), upload_url(scene), "post")
    assert allowed.status_code == 400  # no file


def test_invalid_tokens_are_refused(scene):
    long_ago = timezone.now() - timedelta(days=2)
    expired = token_of(scene.member, at=long_ago)
    inactive = token_of(scene.outsider)
    User.objects.filter(pk=scene.outsider.pk).update(is_active=False)

    for token in (expired, inactive, "arqlab_invented", "", "\xff"):
        answer = ask(token)
        assert answer.status_code == 401
        assert "Create one on your account page" in answer.json()["detail"]


def test_a_revoked_token_is_refused(scene, client_of):
    token, stored = token_of(scene.member), ApiToken.objects.get()
    revoke = reverse("core:token-revoke", args=[stored.pk])

    assert client_of(scene.other_member).post(revoke).status_code == 404
    assert ask(token).status_code == 200
    assert client_of(scene.member).post(revoke).status_code == 302
    assert ask(token).status_code == 401
    verbs = AuditEvent.objects.filter(actor=scene.member).values_list("verb", flat=True)
    assert {"token.create", "token.revoke"} <= set(verbs)


def test_passwords_are_only_for_people(scene):
    scene.member.set_password(PASSWORD)
    scene.member.save()
    basic = "Basic " + b64encode(f"{scene.member.username}:{PASSWORD}".encode()).decode()

    answer = Client().get(LABS, headers={"authorization": basic})
    assert answer.json()["count"] == 0  # as for a visitor


def test_requests_without_a_token_are_limited(scene, monkeypatch):
    cache.clear()
    monkeypatch.setattr(AnonRateThrottle, "THROTTLE_RATES", {"anon": "2/min"})

    assert [Client().get(LABS).status_code for _ in range(3)] == [200, 200, 429]
    cache.clear()


@pytest.fixture
def limited():
    cache.clear()
    with override_settings(ACCOUNT_RATE_LIMITS={}, ALLAUTH_TRUSTED_PROXY_COUNT=1):
        yield
    cache.clear()


def sign_in(login, address, password="wrong"):
    sent = {"login": login, "password": password}
    return Client().post("/accounts/login/", sent, headers={"x-forwarded-for": address})


def with_password(user):
    user.set_password(PASSWORD)
    user.save()
    return user.username


def test_wrong_passwords_are_limited_by_account(scene, limited, caplog):
    name = with_password(scene.member)
    for number in range(5):
        sign_in(name, f"203.0.113.{number}")

    refused = sign_in(name, "203.0.113.99", PASSWORD)
    assert "Too many failed login attempts" in refused.content.decode()
    assert sign_in(with_password(scene.other_member), "203.0.113.99", PASSWORD).status_code == 302
    assert f"Sign-in as {name!r} from 203.0.113.4 failed." in caplog.messages


def test_wrong_passwords_are_limited_by_address_behind_the_proxy(scene, limited):
    for number in range(10):
        sign_in(f"nobody-{number}", "203.0.113.7")
    name = with_password(scene.member)

    # What the client itself wrote into the header does not count.
    assert sign_in(name, "198.51.100.1, 203.0.113.7", PASSWORD).status_code == 200
    assert sign_in(name, "198.51.100.1", PASSWORD).status_code == 302


def test_the_site_administration_has_no_sign_in_of_its_own(scene):
    for answer in (
        Client().get("/admin/login/"),
        Client().post("/admin/login/", {"username": "x"}),
    ):
        assert answer.url.startswith("/accounts/login/")
    assert Client().get("/admin/").url.startswith("/admin/login/")
