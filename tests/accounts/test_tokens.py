"""API tokens, with which programs sign in instead of by a password."""

import re
import time
from base64 import b64encode
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client, override_settings
from django.urls import get_resolver, reverse
from django.utils import timezone

from arqlab.accounts.authentication import VisitorThrottle
from arqlab.accounts.services.tokens import create_token
from arqlab.core.caches import computed_values, request_counts
from arqlab.core.models import ApiToken, AuditEvent, User
from arqlab.settings import ACCOUNT_RATE_LIMITS
from tests.factories import make_lab
from tests.test_access import named_views, parameters_of

pytestmark = pytest.mark.django_db
PAGE, LABS = "/account/tokens/", "/api/v1/labs/"
PASSWORD, NEW_PASSWORD = "a quiet blackboard", "another blackboard 9"


@pytest.fixture
def scene():
    return make_lab(is_public=False)


def token_of(user, *, scope="read", days=1, at=None, lab=None):
    at = at or timezone.now()
    return create_token(user=user, name="laptop", scope=scope, days=days, at=at, lab=lab)


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


@pytest.mark.parametrize(
    ("scope", "submits", "judges"),
    [
        ("read", False, False),
        ("submit", True, False),
        ("judge", False, True),
        ("write", True, True),
    ],
)
def test_a_token_changes_only_what_its_scope_has(scene, scope, submits, judges):
    token = token_of(scene.organizer, scope=scope)
    may = {
        name: ask(token, reverse(name, args=places), "post").status_code != 403
        for name, places in changes(scene).items()
    }

    assert len(may) > 12
    for name, may_change in may.items():
        if name == "jobs:api-job-stop":  # is neither to submit nor to judge
            assert may_change == (submits and judges)
        else:
            assert may_change == (judges if "judging" in name else submits), name


def changes(scene):
    """Return the arguments of each address of the API that changes something."""
    known = {"lab": scene.lab.slug, "task": scene.task.slug, "run": 1, "item": 1, "job": 1}
    known |= {"query_id": "A.1", "round": "training-1"}
    views = named_views(get_resolver().url_patterns)
    kinds = {name: getattr(view, "cls", None) for name, view in views}
    apis = [name for name, kind in kinds.items() if hasattr(kind, "post") or hasattr(kind, "patch")]
    return {name: [known[part] for part in parameters_of(name)] for name in apis}


def test_a_token_of_a_lab_opens_no_other_one(scene):
    other = make_lab("other").lab
    token = token_of(scene.organizer, lab=scene.lab)
    paths = ("/api/v1/me/", f"{LABS}{scene.lab.slug}/", f"{LABS}{other.slug}/", LABS)

    assert [ask(token, path).status_code for path in paths] == [200, 200, 403, 403]
    assert "for The lab arqmath-x only" in ask(token).json()["message"]


def test_a_token_is_made_for_a_lab_that_its_user_sees(scene, client_of):
    hidden = make_lab("hidden", is_public=False).lab
    sent = {"name": "laptop", "scope": "submit", "days": "30"}
    pages = [
        client_of(scene.member).post(PAGE, {**sent, "lab": lab.slug}).status_code
        for lab in (scene.lab, hidden)
    ]

    assert pages == [200, 422]
    assert [(t.scope, t.lab) for t in ApiToken.objects.all()] == [("submit", scene.lab)]


def test_invalid_tokens_are_refused(scene):
    long_ago = timezone.now() - timedelta(days=2)
    expired = token_of(scene.member, at=long_ago)
    inactive = token_of(scene.outsider)
    User.objects.filter(pk=scene.outsider.pk).update(is_active=False)

    for token in (expired, inactive, "arqlab_invented", "", "\xff"):
        answer = ask(token)
        assert answer.status_code == 401
        assert "Create one on your account page" in answer.json()["message"]


def test_a_revoked_token_is_refused(scene, client_of):
    token, stored = token_of(scene.member), ApiToken.objects.get()
    revoke = reverse("accounts:token-revoke", args=[stored.pk])

    assert client_of(scene.other_member).post(revoke).status_code == 404
    assert "Revoke the token for laptop?" in client_of(scene.member).get(revoke).content.decode()
    assert ask(token).status_code == 200
    assert client_of(scene.member).post(revoke).status_code == 302
    assert ask(token).status_code == 401
    verbs = AuditEvent.objects.filter(actor=scene.member).values_list("verb", flat=True)
    assert {"token.create", "token.revoke"} <= set(verbs)


def by_the_page(user, client):
    form = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    client.post("/accounts/password/change/", form)


def by_the_link_in_an_email(user, client):
    client.post("/accounts/password/reset/", {"email": user.email})
    link = re.search(r"/accounts/password/reset/key/\S+", mail.outbox[0].body)[0]
    form = client.get(link, follow=True).redirect_chain[-1][0]
    client.post(form, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})


def by_an_administrator(user, client):
    client.force_login(User.objects.create_superuser("root"))
    form = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD, "usable_password": "true"}
    client.post(f"/admin/core/user/{user.pk}/password/", form)


@pytest.mark.parametrize("change", [by_the_page, by_the_link_in_an_email, by_an_administrator])
def test_tokens_end_with_a_change_of_the_password(scene, client_of, change):
    with_password(scene.member)
    mine, other = token_of(scene.member), token_of(scene.other_member)

    change(scene.member, client_of(scene.member))

    assert User.objects.get(pk=scene.member.pk).check_password(NEW_PASSWORD)
    assert [ask(token).status_code for token in (mine, other)] == [401, 200]


def test_signing_in_ends_no_token(scene):
    name, token = with_password(scene.member), token_of(scene.member)

    assert sign_in(name, "203.0.113.7", PASSWORD).status_code == 302
    assert ask(token).status_code == 200


def test_a_person_has_at_most_20_tokens(scene, client_of):
    form = {"name": "laptop", "scope": "read", "days": "30"}
    pages = [client_of(scene.member).post(PAGE, form) for _ in range(21)]

    assert [page.status_code for page in pages] == [200] * 20 + [422]
    assert "You have 20 API tokens, the most a person can have." in pages[-1].content.decode()


def test_passwords_are_only_for_people(scene):
    scene.member.set_password(PASSWORD)
    scene.member.save()
    basic = "Basic " + b64encode(f"{scene.member.username}:{PASSWORD}".encode()).decode()

    answer = Client().get(LABS, headers={"authorization": basic})
    assert answer.json()["count"] == 0  # as for a visitor


def test_requests_without_a_token_are_limited(scene, monkeypatch):
    request_counts.clear()
    monkeypatch.setattr(VisitorThrottle, "THROTTLE_RATES", {"anon": "2/min"})

    assert [Client().get(LABS).status_code for _ in range(3)] == [200, 200, 429]
    request_counts.clear()


@pytest.fixture
def limited():
    limits = {"ACCOUNT_RATE_LIMITS": ACCOUNT_RATE_LIMITS, "ALLAUTH_TRUSTED_PROXY_COUNT": 1}
    with override_settings(**limits):
        yield


def sign_in(login, address, password="wrong"):
    sent = {"login": login, "password": password}
    return Client().post("/accounts/login/", sent, headers={"x-forwarded-for": address})


def with_password(user):
    user.set_password(PASSWORD)
    user.save()
    return user.username


def test_wrong_passwords_are_limited_by_account_and_address(scene, limited, caplog):
    name = with_password(scene.member)
    for number in range(5):
        sign_in(name if number % 2 else scene.member.email, "203.0.113.4")

    refused = sign_in(name, "203.0.113.4", PASSWORD)
    assert "Too many wrong passwords from your address." in refused.content.decode()
    assert sign_in(with_password(scene.other_member), "203.0.113.4", PASSWORD).status_code == 302
    assert f"Sign-in as {name!r} from 203.0.113.4 failed." in caplog.messages


def test_nobody_is_locked_out_from_elsewhere(scene, limited):
    name = with_password(scene.member)
    for number in range(45):
        sign_in(name, f"203.0.113.{number}")

    assert sign_in(name, "198.51.100.1", PASSWORD).status_code == 302


def test_who_goes_on_guessing_waits_longer(scene, limited, monkeypatch):
    name, now, tried = with_password(scene.member), time.time(), []
    for minute in range(12):
        monkeypatch.setattr(time, "time", lambda at=now + 60.5 * minute: at)
        checked = [sign_in(name, "203.0.113.4") for _ in range(6)]
        tried.append(sum(b"Too many" not in answer.content for answer in checked))

    assert tried == [5, 5, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5]


def test_page_views_do_not_reset_the_count_of_wrong_passwords(scene, limited):
    name = with_password(scene.member)
    for _ in range(5):
        sign_in(name, "203.0.113.4")
    for number in range(1000):
        computed_values.set(f"scores:{number}", 1)

    assert sign_in(name, "203.0.113.4", PASSWORD).status_code == 200


def test_wrong_passwords_are_limited_by_address_behind_the_proxy(scene, limited):
    for number in range(10):
        sign_in(f"nobody-{number}", "203.0.113.7")
    name = with_password(scene.member)

    # What the client itself wrote into the header does not count.
    assert sign_in(name, "198.51.100.1, 203.0.113.7", PASSWORD).status_code == 429
    assert sign_in(name, "198.51.100.1", PASSWORD).status_code == 302


def test_the_site_administration_has_no_sign_in_of_its_own(scene):
    for answer in (
        Client().get("/admin/login/"),
        Client().post("/admin/login/", {"username": "x"}),
    ):
        assert answer.url.startswith("/accounts/login/")
    assert Client().get("/admin/").url.startswith("/admin/login/")
