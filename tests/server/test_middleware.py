"""What a user gets who acts after losing the session."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from arqlab.core.errors import error_body
from arqlab.core.models import Lab
from arqlab.core.views.error_pages import NOT_SAVED, SIGNED_OUT
from tests.core.views.test_error_pages import strict
from tests.desk.views.test_home import text_of
from tests.factories import PASSWORD

EDIT = "/labs/arqmath-x/edit/"
SIGN_IN = f"/accounts/login/?next={EDIT}"
FROM_FORM = {"referer": f"http://testserver{EDIT}"}


@pytest.fixture
def lost(scene, client_of) -> Client:
    """A browser whose session has ended on the server."""
    client = client_of(scene.organizer)
    Session.objects.all().delete()
    return client


def test_an_action_leads_to_the_sign_in_page_and_back_to_its_form(scene, lost):
    response = lost.post(EDIT, {"name": "New"}, headers=FROM_FORM, follow=True)

    assert response.redirect_chain == [(SIGN_IN, 302)]
    assert NOT_SAVED in text_of(response)
    entered = {"login": scene.organizer.username, "password": PASSWORD, "next": EDIT}
    assert lost.post("/accounts/login/", entered)["Location"] == EDIT
    assert Lab.objects.get().name != "New"


def test_an_action_on_another_address_leads_back_to_the_page_of_its_form(lost):
    response = lost.post("/labs/arqmath-x/people/revoke/", headers=FROM_FORM)

    assert response["Location"] == SIGN_IN


@pytest.mark.parametrize("referrer", ["", "https://evil.example/labs/"])
def test_an_action_without_a_page_of_this_site_leads_back_to_its_own_address(referrer, lost):
    assert lost.post(EDIT, headers={"referer": referrer})["Location"] == SIGN_IN


def test_an_action_without_a_token_leads_to_the_sign_in_page_too(scene):
    browser = strict(scene.organizer)
    Session.objects.all().delete()

    assert browser.post(EDIT, headers=FROM_FORM)["Location"] == SIGN_IN


def test_a_script_gets_401_with_the_sign_in_page(lost):
    page = FROM_FORM | {"hx-request": "true"}

    for response, message in (
        (lost.post(EDIT, headers=page), NOT_SAVED),
        (lost.get("/labs/arqmath-x/posts/", headers=page), SIGNED_OUT),
        (lost.get("/labs/arqmath-x/judging/", headers=page), SIGNED_OUT),
    ):
        assert response.status_code == 401
        assert response.json() == error_body(message, "signed-out") | {"sign_in": SIGN_IN}


def test_a_page_leads_to_the_sign_in_page_and_back_once_the_session_is_lost(lost):
    response = lost.get(f"{EDIT}?a=1", follow=True)

    assert response.redirect_chain == [(f"{SIGN_IN}%3Fa%3D1", 302)]
    assert SIGNED_OUT in text_of(response)
    assert lost.get("/labs/none/").status_code == 404


def test_the_api_and_sign_in_forms_decide_themselves(lost):
    assert lost.post("/api/v1/labs/arqmath-x/tasks/task1/runs/").status_code == 401
    assert lost.post("/accounts/login/", {"login": "x"}).status_code == 200
    assert lost.post("/accounts/password/reset/", {"email": "x"}).status_code == 200
    assert lost.post("/accounts/logout/")["Location"] == "/"


def test_a_cookie_names_who_is_signed_in_until_they_sign_out_or_another_signs_in(scene):
    browser = Client()
    assert "arqlab_user" not in browser.get("/").cookies
    for person in (scene.assessor, scene.member):
        form = {"login": person.username, "password": PASSWORD}
        browser.post("/accounts/login/", form)
        assert browser.cookies["arqlab_user"].value == str(person.pk)
        assert not browser.cookies["arqlab_user"]["httponly"]
        assert "arqlab_user" not in browser.get("/").cookies
        browser.post("/accounts/logout/")
        assert browser.cookies["arqlab_user"].value == ""


HAS_NAME = 0x08  # flag of gzip: the padding is a file name of random length


def test_a_page_is_compressed_with_padding_and_a_file_is_sent_as_it_is(scene, client_of):
    client = client_of(scene.organizer)
    page, table = (
        client.get(f"/labs/arqmath-x/tasks/task1/runs/{query}", headers={"Accept-Encoding": "gzip"})
        for query in ("", "?format=tsv")
    )

    assert page["Content-Encoding"] == "gzip"
    assert page.content[3] & HAS_NAME
    assert "Content-Encoding" not in table
    assert table["Content-Type"].startswith("text/tab-separated-values")


BOARD = "/labs/arqmath-x/tasks/task1/leaderboard/"


def test_no_address_and_no_form_has_the_character_nul(scene, client_of):
    client, api = client_of(scene.organizer), f"/api/v1{BOARD}"
    for path in (f"{BOARD}?qrels=%00", f"{BOARD}?a%00=1", f"{api}?qrels=%00"):
        assert client.get(path).status_code == 400
    assert client.post(EDIT, {"name": "a\0b"}).status_code == 400
    assert client.get(f"{BOARD}%00/").status_code == 404
    assert client.get("/labs/arqmath-x/formulas/%00/").status_code == 404
