"""What is for one person is stored by no browser and no proxy; what is for everyone may be."""

import pytest
from django.test import Client

from tests import test_access
from tests.accounts.test_tokens import ask, token_of
from tests.factories import PASSWORD
from tests.test_access import Filled, address, answer_to, rows

pytestmark = pytest.mark.once
filled = test_access.filled
READ = {name: roles for method, name, roles in rows() if method == "GET"}
NOT_STORED = "private, no-store"


@pytest.mark.parametrize("name", sorted(READ))
def test_a_page_or_file_of_a_signed_in_person_is_not_stored(
    name: str, filled: Filled, db: None
) -> None:
    path = address(name, filled.public, filled.run.pk)
    person = next((role for role in READ[name] if role != "visitor"), "organizer")

    answer = answer_to("GET", path, filled.cookies[person])

    assert answer.headers["Cache-Control"] == NOT_STORED


@pytest.mark.parametrize("name", sorted(READ))
def test_a_visitor_may_store_what_everyone_sees_and_nothing_else(
    name: str, filled: Filled, db: None
) -> None:
    answer = answer_to(
        "GET", address(name, filled.public, filled.run.pk), filled.cookies["visitor"]
    )
    is_for_everyone = (
        "visitor" in READ[name]
        and not name.startswith("account_")
        and answer.status_code == 200
        and not answer.cookies
    )

    assert answer.headers.get("Cache-Control") == (None if is_for_everyone else NOT_STORED)


@pytest.mark.parametrize("name", ["evaluation:leaderboard", "desk:lab-detail", "desk:lab-list"])
def test_public_pages_are_among_what_a_visitor_may_store(
    name: str, filled: Filled, db: None
) -> None:
    answer = answer_to(
        "GET", address(name, filled.public, filled.run.pk), filled.cookies["visitor"]
    )

    assert (answer.status_code, "Cache-Control" in answer.headers) == (200, False)


def test_a_table_of_a_signed_in_person_is_not_stored_as_a_file(filled: Filled, db: None) -> None:
    path = address("evaluation:leaderboard", filled.public, filled.run.pk)
    answer = answer_to("GET", path, filled.cookies["member"], data={"format": "tsv"})

    assert answer.headers["Cache-Control"] == NOT_STORED


def test_an_answer_to_a_token_is_not_stored(filled: Filled, db: None) -> None:
    assert ask(token_of(filled.public.member)).headers["Cache-Control"] == NOT_STORED
    assert "Cache-Control" not in Client().get("/api/v1/labs/").headers


def test_a_form_that_signs_somebody_in_is_not_stored(filled: Filled, db: None) -> None:
    form = {"login": filled.public.member.username, "password": PASSWORD}

    assert Client().post("/accounts/login/", form).headers["Cache-Control"] == NOT_STORED
