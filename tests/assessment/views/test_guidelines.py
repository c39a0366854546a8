"""The instructions for assessors: read by them, written by organizers, in versions that stay."""

from __future__ import annotations

import pytest
from django.urls import reverse

from assessment.selectors import current_guideline
from assessment.services import write_guideline
from tests.assessment.factories import NOW

pytestmark = pytest.mark.django_db


def path(version: int) -> str:
    return reverse("assessment:guideline-detail", args=["arqmath-x", "task1", version])


def test_before_anything_is_written_the_protocols_own_text_is_read(assessor, client_of, task):
    html = client_of(assessor).get(path(0)).text

    assert current_guideline(task) is None
    assert "is sufficient to answer the complete question" in html
    assert "<math" in html


def test_an_old_version_stays_and_leads_to_the_newest(assessor, organizer, client_of, task):
    for text in ("<p>First words.</p>", "<p>Better words.</p>"):
        write_guideline(task=task, text=text, at=NOW, by=organizer)

    html = client_of(assessor).get(path(1)).text

    assert "First words." in html
    assert f'<a href="{path(2)}">Version 2</a> is the newest' in html


def test_instructions_are_sanitized_and_typeset(assessor, client_of, task):
    write_guideline(task=task, text='<p onclick="x()">Find $a^2$.</p><script>alert(1)</script>', at=NOW, by=None)

    html = client_of(assessor).get(path(1)).text

    assert "onclick" not in html
    assert "alert(1)" not in html
    assert "<msup>" in html


def test_a_version_that_is_not_there_is_not_found(assessor, client_of, task):
    assert client_of(assessor).get(path(7)).status_code == 404
