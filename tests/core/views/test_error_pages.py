"""ArqLab's own answers to failed requests: a page for browsers, JSON for the API and scripts."""

from html import unescape

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client, override_settings
from django.urls import get_resolver

from arqlab.core.errors import error_body
from arqlab.labs import permissions
from tests.desk.views.test_home import text_of
from tests.test_access import address, fill, named_addresses, rows

EDIT = "/labs/arqmath-x/edit/"
NOT_FOUND = "This page does not exist, or you do not have permission to see it."


def raiser(error):
    def fail(*_, **__):
        raise error

    return fail


def says(response, title, *sentences):
    """Return whether a response is the page of an error with these sentences."""
    page = unescape(text_of(response))
    return f"<h1>{title}</h1>" in page and all(sentence in page for sentence in sentences)


def test_a_visitor_of_a_missing_page_can_sign_in_and_come_back(client, db):
    response = client.get("/labs/none/?page=2")

    assert response.status_code == 404
    assert says(response, "Page not found", NOT_FOUND, "Check the address, or sign in: some")
    assert "/accounts/login/?next=/labs/none/%3Fpage%3D2" in text_of(response)


def test_a_signed_in_user_of_a_missing_page_is_not_asked_to_sign_in(scene, client_of):
    response = client_of(scene.outsider).get("/labs/none/")

    assert says(response, "Page not found", NOT_FOUND, "or start from the list of labs.")
    assert "Sign in" not in text_of(response)


def test_a_method_that_a_page_does_not_take_gets_405_with_the_allowed_ones(scene, client_of):
    response = client_of(scene.organizer).put(EDIT)

    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD, POST")
    assert says(response, "Action not available", "Open the page and use its buttons.")


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1000)
def test_a_form_that_is_too_large_gets_413(scene, client_of):
    response = client_of(scene.organizer).post(EDIT, {"name": "x", "description": "y" * 2000})

    assert response.status_code == 413
    assert says(response, "Too much data", "so nothing was saved.", "Go back and shorten the text")


@override_settings(ALLOWED_HOSTS=["arqlab.example"])
def test_a_request_that_django_refuses_gets_400(client):
    response = client.get("/", headers={"host": "other.example"})

    assert response.status_code == 400
    assert says(response, "Bad request", "Go back, reload the page and try again.")


def test_a_forbidden_action_gets_403(scene, client_of, monkeypatch):
    monkeypatch.setattr(permissions, "may_organize", raiser(PermissionDenied()))
    response = client_of(scene.organizer).get(EDIT)

    assert response.status_code == 403
    assert says(response, "Permission denied", "ask an organizer of the lab.")


@override_settings(ACCOUNT_RATE_LIMITS={"login": "1/m/ip"})
def test_too_many_sign_ins_get_429(client, db):
    [_, response] = [client.post("/accounts/login/", {"login": "x"}) for _ in range(2)]

    assert response.status_code == 429
    assert says(response, "Too many attempts", "Wait a few minutes, then try again.")


def test_a_failure_gets_500_without_the_database():
    # Without the fixture `db`, every query fails.
    response = Client(raise_request_exception=False).get("/labs/")

    assert response.status_code == 500
    assert says(response, "Something went wrong", "The error is on our side")


def test_the_api_and_scripts_get_the_sentences_as_json(client, db):
    todo = "Check the address, or sign in: some pages are only for people with a role in the lab."
    wanted = error_body(f"{NOT_FOUND} {todo}", "not-found")

    assert client.get("/api/v1/none/").json() == wanted
    assert client.get("/none/", headers={"accept": "application/json"}).json() == wanted
    assert client.get("/none/", headers={"hx-request": "true"}).json() == wanted


def strict(user):
    """Return a signed-in client that is checked for CSRF tokens."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    return client


def test_a_form_from_before_a_new_sign_in_leads_back_to_the_form(scene):
    client = strict(scene.organizer)
    client.get(EDIT)
    response = client.post(
        EDIT, {"csrfmiddlewaretoken": "a" * 64}, headers={"referer": f"http://testserver{EDIT}?a=1"}
    )

    assert response.status_code == 403
    assert says(response, "This form is out of date", "Return to the form.")
    assert f'href="{EDIT}?a=1">Return to the form' in text_of(response)


def test_a_form_without_cookies_says_so(scene):
    assert says(strict(scene.organizer).post(EDIT), "Cookies are blocked", "Allow cookies")


def test_a_form_of_another_site_says_so_and_leads_nowhere_else(scene):
    elsewhere = {"origin": "https://evil.example", "referer": "https://evil.example/form/"}
    response = strict(scene.organizer).post(EDIT, headers=elsewhere)

    assert says(response, "This form comes from another site", "ARQLAB_ORIGINS")
    assert "evil.example" not in text_of(response)


def test_a_sign_in_form_sent_twice_leads_to_the_home_page(scene):
    client = strict(scene.outsider)
    client.get(EDIT)
    response = client.post("/accounts/login/", {"csrfmiddlewaretoken": "a" * 64})

    assert (response.status_code, response["Location"]) == (302, "/")


def test_the_address_of_every_action_leads_to_a_page(scene, tmp_path, client_of):
    run, organizer, pages = fill(scene, tmp_path), client_of(scene.organizer), {}
    assessor = client_of(scene.assessor)
    taken = {name for method, name, _ in rows() if method == "GET"}
    for name in named_addresses(get_resolver().url_patterns):
        client = assessor if name.startswith("assessment:bid-") else organizer
        response = client.get(path := address(name, scene, run.pk))
        assert "api-" in name or response.status_code != 405, name
        if name not in taken and "api-" not in name:
            pages[name] = client.get(path, follow=True)

    assert len(pages) > 10
    assert {name for name, page in pages.items() if page.status_code != 200} == set()


@pytest.mark.parametrize(
    ("action", "page"),
    [
        ("teams/1/members/2/remove/", "teams/1/"),
        ("people/revoke/", "people/"),
        ("tasks/task1/runs/guess/", "tasks/task1/runs/"),
    ],
)
def test_an_action_leads_to_the_page_above_it(action, page, scene, client_of):
    response = client_of(scene.organizer).get(f"/labs/arqmath-x/{action}")

    assert (response.status_code, response["Location"]) == (302, f"/labs/arqmath-x/{page}")
