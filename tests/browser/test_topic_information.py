"""Organizers say what is known of topics: with the keyboard alone, and in windows of all widths."""

import pytest
from playwright.sync_api import Page, expect

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.folder import read_lab
from arqlab.core.models import Membership, Task
from arqlab.labs.services.loading import load_lab_file
from tests.browser.test_every_page import AXE, JUDGE, enter
from tests.browser.test_keyboard import open_by_keys, tab_to
from tests.factories import make_lab
from tests.real_data import DATA, needs_data

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TOPICS = "/labs/arqmath-x/tasks/task1/topics/"


@pytest.fixture
def organizing(page: Page) -> Task:
    """A task whose page of topic information is open to its organizer."""
    scene = make_lab()
    page.goto("/health/live")
    enter(page, scene.organizer)
    return scene.task


def violations(page: Page) -> list[str]:
    """What axe finds wrong with the page in a narrow window."""
    page.set_viewport_size({"width": 390, "height": 900})
    page.evaluate(AXE)
    return page.evaluate(JUDGE, None)


def test_information_is_chosen_and_saved_with_the_keyboard(organizing, page):
    page.goto(TOPICS)
    open_by_keys(page, "Edit topic information")
    expect(page.get_by_role("heading", level=1, name="Topic information")).to_be_visible()
    tab_to(page, "Difficulty of A.1")
    page.keyboard.press("h")
    open_by_keys(page, "Save information")

    expect(page.get_by_text("Saved the information of 1 topic.")).to_be_visible()
    assert organizing.topics.get(query_id="A.1").facts == {"difficulty": "hard"}


def test_a_file_is_looked_at_and_applied(organizing, page, look):
    page.goto(f"{TOPICS}information/")
    text = "Topic,Difficulty,Category\nA.1,High,Riddle\nA.2,Low,Proof,more\nA.11,Low,\n"
    page.get_by_label("CSV or JSON file").set_input_files(
        {"name": "info.csv", "mimeType": "text/csv", "buffer": text.encode()}
    )
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_role("heading", name="2 problems")).to_be_visible()
    look("topic-information-upload")
    assert violations(page) == []
    open_by_keys(page, "Apply 2 changes")

    expect(page.get_by_text("Saved the information of 1 topic.")).to_be_visible()
    assert organizing.topics.get(query_id="A.1").facts == {
        "difficulty": "hard",
        "category": "riddle",
    }


def test_who_saves_over_another_users_change_gets_a_message_and_loses_nothing(
    organizing, page, look
):
    page.goto(f"{TOPICS}information/")
    organizing.topics.filter(query_id="A.2").update(info_edits={"category": "proof"})
    page.get_by_label("Category of A.2").select_option("concept")
    page.get_by_label("Dependency of A.1").select_option("both")
    page.get_by_role("button", name="Save information").click()

    expect(page.get_by_role("alert")).to_contain_text("changed by another user")
    look("topic-information-meanwhile")
    assert violations(page) == []
    page.get_by_role("button", name="Save information").click()
    expect(page.get_by_text("Saved the information of 2 topics.")).to_be_visible()
    assert organizing.topics.get(query_id="A.2").facts == {"category": "concept"}


@needs_data
@pytest.mark.parametrize("task", ["task1", "task2"])
def test_the_topics_of_a_real_lab_fit_into_the_window(organizing, page, look, task):
    lab = load_lab_file(read_lab(SourceFolder(DATA / "arqmath-3", reads_beside=True)), by=None)
    organizer = organizing.lab.memberships.get(role="organizer").user
    Membership.objects.create(lab=lab, user=organizer, role="organizer")
    page.goto(f"/labs/arqmath-3/tasks/{task}/topics/information/")

    expect(page.locator("#information tbody tr")).to_have_count(100 if task == "task1" else 76 + 24)
    look(f"topic-information-{task}")
