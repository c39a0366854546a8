"""The guidelines: read by assessors, written by organizers, and never changed once saved."""

import re

import pytest
from django.urls import reverse

from arqlab.core.models import AuditEvent
from assessment.guidelines.selectors.versions import current_guideline
from assessment.guidelines.services.versions import write_guideline
from tests.assessment.factories import NOW, assign, make_pool

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


def test_who_was_overtaken_sees_other_definitions_too(organizer, client_of, task):
    given = {"text": "<p>Old.</p>", "at": NOW, "by": None}
    write_guideline(task=task, definitions={"3": "Theirs."}, **given)

    mine = {"text": "<p>Old.</p>", "after": 0, "label-3": "Mine."}
    page = client_of(organizer).post(EDIT, mine).text
    changes = page[page.index('id="changes"') : page.index("<form", page.index('id="changes"'))]
    assert "Theirs." in changes
    assert "Mine." in changes
    assert ">\nMine.</textarea>" in page


@pytest.mark.parametrize(
    ("text", "after", "said"),
    [
        ("  ", 1, "The text of the guidelines is empty."),
        ("x" * 50_001, 1, "Shorten it to at most 50,000."),
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


def test_labels_are_defined_beside_the_text(organizer, assessor, client_of, task):
    client, given = client_of(organizer), {"text": "<p>Text.</p>", "after": 0}
    preview = client.post(EDIT, given | {"label-3": "All $a^2$ <parts>.", "preview": "yes"}).text
    client.post(EDIT, given | {"label-3": "All $a^2$ <parts>."})

    for page in (preview, client_of(assessor).get(path(1)).text):
        table = page[page.index("<table>") : page.index("</table>")]
        assert "<strong>High</strong>" in table
        assert "<msup>" in table
        assert "&lt;parts&gt;" in table
        assert "Medium" not in table
    editor = client.get(EDIT).text
    assert "All $a^2$ &lt;parts&gt;.</textarea>" in editor
    assert "does not mention Medium, Low" in editor


def test_a_changed_definition_is_a_new_version_which_shows_the_change(organizer, client_of, task):
    client = client_of(organizer)
    for after, text in enumerate(["Old words here.", "New words here.", "New words here."]):
        page = client.post(
            EDIT, {"text": "<p>Text.</p>", "after": after, "label-0": text}, follow=True
        ).text

    assert "Nothing was changed" in page
    assert current_guideline(task).definitions == {"0": "New words here."}
    assert re.search(
        r"<ins>New\s*</ins>\s*<del>Old\s*</del>", client.get(f"{path(2)}changes/").text
    )


def test_the_definition_is_shown_on_the_button_of_its_label(assessor, client_of, task):
    make_pool(task)
    assign(assessor, task.topics.get(query_id="A.1"))
    write_guideline(task=task, text="<p>T.</p>", definitions={"3": 'A "b"'}, at=NOW, by=None)

    page = client_of(assessor).get("/labs/arqmath-x/tasks/task1/judge/A.1/").text
    assert re.findall(r'data-label="(\d)"[^>]*title="([^"]*)"', page) == [("3", "A &quot;b&quot;")]
