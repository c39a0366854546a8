"""The thread page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse

from arqlab.core.models import Lab
from tests.collection.factories import load_small
from tests.factories import make_lab

pytestmark = pytest.mark.django_db
SignIn = Callable[[object], Client]


def page(lab: Lab, post_id: str = "10") -> str:
    return reverse("collection:post-detail", args=[lab.slug, post_id])


def test_the_thread_of_an_answer_shows_question_and_answers(lab: Lab, tmp_path: Path, client: Client) -> None:
    load_small(lab, tmp_path)
    html = client.get(page(lab)).text
    assert html.index("I do not see it.") < html.index("Since") < html.index("there.")
    assert "<math" in html


def test_hostile_html_of_a_post_is_gone(lab: Lab, tmp_path: Path, client: Client) -> None:
    load_small(lab, tmp_path)
    html = client.get(page(lab)).text
    assert "onclick" not in html
    assert "x()" not in html


def test_an_unknown_post_is_not_found(lab: Lab, tmp_path: Path, client: Client) -> None:
    load_small(lab, tmp_path)
    assert client.get(page(lab, "99")).status_code == 404


def test_a_lab_without_collection_has_no_posts(lab: Lab, client: Client) -> None:
    assert client.get(page(lab)).status_code == 404


def test_posts_of_a_draft_are_not_found_by_visitors(tmp_path: Path, client_of: SignIn) -> None:
    draft = make_lab("draft", is_public=False)
    load_small(draft.lab, tmp_path)
    assert client_of(AnonymousUser()).get(page(draft.lab)).status_code == 404
    assert client_of(draft.member).get(page(draft.lab)).status_code == 200
