"""Organizers edit the texts of notices; unknown placeholders are refused."""

import re

import pytest

from arqlab.core.models import AuditEvent
from arqlab.notices.models import EditedText, Kind, Notice
from arqlab.notices.services.texts import DEFAULTS, placeholders
from submissions.services.reminders import remind_teams
from tests.desk.views.test_home import text_of
from tests.factories import LabFactory
from tests.submissions.factories import NOW

LIST = "/labs/arqmath-x/texts/"
EDIT = f"{LIST}deadline/"


@pytest.fixture
def browser(client_of, organizer):
    return client_of(organizer)


def edit(browser, *, subject="{task}: last call", text="Hurry, {team}!") -> str:
    return text_of(browser.post(EDIT, {"subject": subject, "text": text}, follow=True))


def test_an_edited_text_is_used_for_the_next_notice(browser, task, member):
    edit(browser, text="Hurry, {team}!\r\n\r\n{runs}, {lab}")
    task.deadline = NOW.replace(hour=20)
    task.save()
    remind_teams(at=NOW)

    notice = Notice.objects.get(user=member)
    assert notice.subject == "Answer retrieval: last call"
    assert notice.text == "Hurry, Alpha!\n\nno valid run yet, The lab arqmath-x"


def test_the_texts_of_another_lab_stay(browser):
    edit(browser)
    LabFactory(slug="other")

    assert EditedText.objects.get().lab.slug == "arqmath-x"


def test_every_kind_but_messages_has_a_text(browser):
    page = text_of(browser.get(LIST))

    assert set(DEFAULTS) == set(Kind) - {Kind.MESSAGE}
    assert page.count("<td>default</td>") == len(DEFAULTS)
    assert browser.get(f"{LIST}message/").status_code == 404


def test_an_edited_text_is_marked_and_audited(browser, organizer):
    edit(browser)
    edit(browser)

    assert text_of(browser.get(LIST)).count("<td>edited</td>") == 1
    event = AuditEvent.objects.get(verb="notices.edit-text")
    assert (event.actor, event.target) == (organizer, "Deadline in 24 hours")
    assert event.detail["changes"]["subject"][1] == "{task}: last call"


def test_the_default_is_restored(browser):
    edit(browser)
    page = text_of(browser.post(f"{EDIT}restore/", follow=True))

    assert "<td>edited</td>" not in page
    assert not EditedText.objects.exists()


@pytest.mark.parametrize(
    "wrong", [{"subject": "{person}: last call"}, {"text": "Hurry, {teams} {team}"}]
)
def test_an_unknown_placeholder_is_refused_with_the_known_ones(browser, wrong):
    page = edit(browser, **wrong)

    name = re.search(r"\{(person|teams)\}", str(wrong))[1]
    sentence = f"Unknown placeholder {{{name}}}. Use one of {{task}}, {{remaining}}, {{lab}}, "
    assert sentence + "{deadline}, {team}, {runs}." in page
    assert not EditedText.objects.exists()


def test_braces_around_anything_but_a_word_are_kept(browser):
    edit(browser, text="x^{2} {a b} {} } {")

    assert EditedText.objects.get().text == "x^{2} {a b} {} } {"


def test_an_empty_text_is_refused(browser):
    page = edit(browser, subject="", text=" ")

    assert "Enter a subject." in page
    assert "Enter a text." in page


def test_the_placeholders_of_a_kind_are_listed(browser):
    assert placeholders(Kind.INVITATION) == ["lab", "person", "role"]
    assert "<code>{remaining}</code>" in text_of(browser.get(EDIT))
