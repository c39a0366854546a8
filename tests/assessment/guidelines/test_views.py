"""The guidelines: read by assessors, written by organizers, and never changed once saved."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from arqlab.core.models import AuditEvent
from assessment.guidelines.selectors.versions import current_guideline
from assessment.guidelines.services.versions import write_guideline
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
    assert f'<a href="{path(2)}">Version 2</a> is the current version' in html


def test_guidelines_are_sanitized_and_typeset(assessor, client_of, task):
    write_guideline(
        task=task, text='<p onclick="x()">Find $a^2$.</p><script>alert(1)</script>', at=NOW, by=None
    )

    html = client_of(assessor).get(path(1)).text

    assert "onclick" not in html
    assert "alert(1)" not in html
    assert "<msup>" in html


def test_a_version_that_is_not_there_is_not_found(assessor, client_of, task):
    assert client_of(assessor).get(path(7)).status_code == 404


EDIT = "/labs/arqmath-x/tasks/task1/guidelines/"


def test_the_editor_begins_with_the_text_that_holds(organizer, client_of, task):
    assert "is sufficient to answer the complete question" in client_of(organizer).get(EDIT).text


def test_a_preview_is_typeset_and_saves_nothing(organizer, client_of, task):
    page = (
        client_of(organizer)
        .post(EDIT, {"text": "<p>Find $a^2$.</p>", "after": 0, "preview": "yes"})
        .text
    )

    assert "<msup>" in page
    assert "&lt;p&gt;Find $a^2$.&lt;/p&gt;" in page
    assert current_guideline(task) is None


def test_saving_makes_the_next_version(organizer, client_of, task):
    client = client_of(organizer)
    client.post(EDIT, {"text": "<p>One.</p>\r\n<p>Two.</p>", "after": 0})
    page = client.post(EDIT, {"text": "<p>One.</p>\r\n<p>Three.</p>", "after": 1}, follow=True).text

    assert "Assessors now follow version 2." in page
    assert f'<a href="{path(2)}changes/">View the changes in version 2</a>' in page
    assert AuditEvent.objects.filter(verb="guideline.write").count() == 2


def test_who_was_overtaken_sees_what_differs_and_saves_again(organizer, client_of, task):
    write_guideline(task=task, text="<p>Old.</p>\n<p>Theirs.</p>", at=NOW, by=None)
    client = client_of(organizer)

    page = client.post(EDIT, {"text": "<p>Old.</p>\r\n<p>Mine.</p>", "after": 0}).text
    changes = page[page.index('id="changes"') : page.index("<form", page.index('id="changes"'))]
    assert re.findall(r'<tr class="(added|removed)">.*?&lt;p&gt;(\w+)', changes, re.DOTALL) == [
        ("removed", "Theirs"),
        ("added", "Mine"),
    ]
    after = re.search(r'name="after" value="(\d+)"', page)[1]
    again = client.post(
        EDIT, {"text": "<p>Old.</p>\r\n<p>Mine.</p>", "after": after}, follow=True
    ).text

    assert "Assessors now follow version 2." in again


@pytest.mark.parametrize(
    ("text", "after", "said"),
    [
        ("  ", 1, "The guidelines are empty."),
        ("x" * 50_001, 1, "Shorten them"),
        ("<p>Old.</p>", 1, "Nothing was changed"),
        ("<p>New.</p>", 0, "Someone else wrote version 1"),
    ],
)
def test_what_cannot_be_a_version_is_refused_and_what_was_typed_stays(
    organizer, client_of, task, text, after, said
):
    write_guideline(task=task, text="<p>Old.</p>", at=NOW, by=None)
    page = client_of(organizer).post(EDIT, {"text": text, "after": after}).text

    assert said in page
    assert current_guideline(task).version == 1
