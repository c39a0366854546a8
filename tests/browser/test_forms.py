"""Forms in a browser: filled in again after a lost session, and sent once."""

import re
from datetime import UTC, datetime

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from arqlab.core.models import Lab, Team
from assessment.guidelines.services.versions import write_guideline
from assessment.models import Assignment, Guideline
from tests.browser.conftest import enter
from tests.collection.factories import load_small
from tests.factories import PASSWORD, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LAB = "/labs/arqmath-x/"
APPLY = re.compile(r"^Assign \d+ topics?$")
AGAIN = "Your entries are filled in again, but not saved yet."


@pytest.fixture
def scene(page: Page):
    """A lab whose organizer is signed in."""
    scene = make_lab()
    page.goto("/health/live")
    enter(page, scene.organizer)
    return scene


def sign_in(page, person):
    page.get_by_label("Email address or user name").fill(person.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def kept(page):
    return page.evaluate("sessionStorage.getItem('arqlab-kept-form')")


def test_the_entries_of_a_form_come_back_after_the_sign_in(page, scene, look):
    page.goto(f"{LAB}edit/")
    page.get_by_label("Name", exact=True).fill("Renamed")
    page.get_by_label("Description").fill("Two\nlines")
    page.get_by_label("This lab is public").set_checked(False)
    Session.objects.all().delete()
    page.get_by_role("button", name="Save lab").click()
    expect(page.get_by_text("so nothing was saved. Sign in to return to the form.")).to_be_visible()
    look("signed-out")
    sign_in(page, scene.organizer)
    expect(page.get_by_text(AGAIN)).to_be_focused()
    look("filled-in-again")
    expect(page.get_by_label("Description")).to_have_value("Two\nlines")
    expect(page.get_by_label("This lab is public")).not_to_be_checked()
    assert Lab.objects.get().name != "Renamed"
    page.get_by_role("button", name="Save lab").click()
    expect(page.get_by_text("Lab saved.")).to_be_visible()
    assert Lab.objects.get().name == "Renamed"
    assert kept(page) is None


def test_what_somebody_else_saved_meanwhile_stays_in_fields_that_were_not_changed(page, scene):
    page.goto(f"{LAB}edit/")
    page.get_by_label("Description").fill("Mine")
    Session.objects.all().delete()
    Lab.objects.update(name="Theirs")
    page.get_by_role("button", name="Save lab").click()
    sign_in(page, scene.organizer)
    expect(page.get_by_text(AGAIN)).to_be_visible()
    expect(page.get_by_label("Description")).to_have_value("Mine")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Theirs")


def test_previewed_guidelines_come_back_and_do_not_replace_those_of_somebody_else(page, scene):
    page.goto(f"{LAB}tasks/task1/guidelines/")
    page.get_by_role("textbox", name="Guidelines").fill("<p>Mine.</p>")
    page.get_by_role("button", name="Preview guidelines").click()
    expect(page.get_by_text("Nothing has been saved yet.")).to_be_visible()
    Session.objects.all().delete()
    at = datetime(2026, 11, 21, tzinfo=UTC)
    write_guideline(task=scene.task, text="<p>Theirs.</p>", at=at, by=scene.superuser)
    page.get_by_role("button", name="Save new version").click()
    sign_in(page, scene.organizer)
    expect(page.get_by_role("textbox", name="Guidelines")).to_have_value("<p>Mine.</p>")
    page.get_by_role("button", name="Save new version").click()
    expect(page.locator("[data-error-summary]")).to_be_visible()
    assert "Theirs" in Guideline.objects.get().text


def test_a_preview_is_offered_again(page, small, look):
    Assignment.objects.all().delete()
    page.goto("/health/live")
    enter(page, small.organizer)
    page.goto(f"{LAB}tasks/task1/assignments/")
    page.get_by_role("button", name="evenly").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Preview")
    Session.objects.all().delete()
    page.get_by_role("button", name=APPLY).click()
    sign_in(page, small.organizer)
    expect(page.get_by_text("Your changes are not saved yet.")).to_be_visible()
    look("preview-again")
    assert not Assignment.objects.exists()
    page.get_by_role("button", name=APPLY).click()
    expect(page.get_by_text("assignments made.")).to_be_visible()
    assert Assignment.objects.exists()
    assert kept(page) is None


def test_the_settings_of_a_task_come_back_to_the_same_person_only(page, scene):
    page.goto(f"{LAB}tasks/task1/edit/")
    deadline = page.get_by_label(re.compile(r"^\s*Deadline"))
    deadline.fill("2027-05-01T12:00")
    Session.objects.all().delete()
    page.get_by_role("button", name="Save task").click()
    sign_in(page, scene.superuser)
    expect(page.get_by_role("heading", level=1, name="Edit task")).to_be_visible()
    expect(page.get_by_text(AGAIN)).to_have_count(0)
    assert kept(page) is None


def test_a_form_opened_before_another_sign_in_comes_back_too(page, scene, look):
    page.goto(f"{LAB}teams/{scene.team.pk}/edit/")
    page.get_by_label("Team name").fill("Omega")
    page.context.clear_cookies()
    other = page.context.new_page()
    other.goto("/accounts/login/")
    sign_in(other, scene.organizer)
    expect(other.get_by_role("link", name="My labs")).to_be_visible()
    page.get_by_role("button", name="Save team").click()
    expect(page.get_by_role("heading", level=1, name="This form is out of date")).to_be_visible()
    look("old-form")
    page.get_by_role("link", name="Return to the form").click()
    expect(page.get_by_label("Team name")).to_have_value("Omega")
    page.get_by_role("button", name="Save team").click()
    expect(page.get_by_role("heading", level=1, name="Omega")).to_be_visible()
    assert Team.objects.filter(name="Omega").exists()


def test_a_file_is_named_that_must_be_chosen_again(page, scene):
    page.goto(f"{LAB}tasks/task1/topics/information/upload/")
    file = {"name": "info.csv", "mimeType": "text/csv", "buffer": b"topic\n"}
    page.locator("input[type=file]").set_input_files(file)
    Session.objects.all().delete()
    page.locator("main form button[type=submit]").first.click()
    sign_in(page, scene.organizer)
    expect(page.get_by_text("Choose the files again: info.csv.")).to_be_visible()


def test_a_password_is_never_stored(page, scene):
    page.goto("/accounts/password/change/")
    for field in page.locator("main input[type=password]").all():
        field.fill("a secret blackboard")
    page.get_by_role("button").last.click()
    expect(page.get_by_text("There is a problem")).to_be_visible()
    assert kept(page) is None


def test_a_search_by_a_script_says_so_and_comes_back(page, scene, tmp_path, look):
    load_small(scene.lab, tmp_path)
    page.goto(f"{LAB}posts/")
    page.locator("input[type=search]").fill("tangent")
    Session.objects.all().delete()
    page.get_by_role("button", name="Search").click()
    message = page.get_by_role("alert").filter(has_text="You are signed out.")
    expect(message).to_be_visible()
    look("search-signed-out")
    message.get_by_role("link", name="Sign in").click()
    sign_in(page, scene.organizer)
    expect(page.locator("input[type=search]")).to_have_value("tangent")


def test_a_script_without_a_network_says_so(page, scene, tmp_path):
    load_small(scene.lab, tmp_path)
    page.goto(f"{LAB}posts/")
    page.context.set_offline(True)
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("ArqLab cannot be reached.")).to_be_visible()
    page.context.set_offline(False)


SUBMIT_TWICE = """() => {
  const refused = [];
  window.addEventListener("submit", (event) => {
    refused.push(event.defaultPrevented);
    event.preventDefault();
  });
  const form = document.querySelector("main form");
  form.requestSubmit();
  form.requestSubmit();
  window.dispatchEvent(new Event("pageshow"));
  form.requestSubmit();
  return refused;
}"""


def test_a_form_that_is_on_its_way_is_not_sent_again_before_the_page_is_shown_again(page, scene):
    page.goto(f"{LAB}teams/new/")

    assert page.evaluate(SUBMIT_TWICE) == [False, True, False]
