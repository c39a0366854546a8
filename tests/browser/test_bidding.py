"""An assessor marks topics with single keys; the organizer plans with the marks."""

import pytest
from playwright.sync_api import Page, expect

from assessment.models import Assignment, RosterEntry, SecondPlan, TopicBid
from tests.assessment.factories import NOW, make_pool
from tests.browser.test_every_page import enter
from tests.factories import AssessorFactory, TopicFactory, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TASK = "/labs/arqmath-x/tasks/task1/"


@pytest.fixture
def scene(transactional_db):
    scene = make_lab()
    for number in (3, 4):
        TopicFactory(task=scene.task, query_id=f"A.{number}", position=number)
    make_pool(scene.task, {f"A.{number}": ["10", "11"] for number in range(1, 5)})
    bo = AssessorFactory(lab=scene.lab, user__username="bo").user
    for person in (scene.assessor, bo):
        RosterEntry.objects.create(task=scene.task, user=person, hours=1, added_at=NOW)
    return scene


def marks() -> dict[str, str]:
    return dict(TopicBid.objects.values_list("topic__query_id", "choice"))


def test_topics_are_marked_with_single_keys(page: Page, scene, look):
    page.goto("/health/live")
    enter(page, scene.assessor)
    page.goto(f"{TASK}bids/")
    page.get_by_role("group", name="A.1").get_by_label("No mark").focus()
    for key in ("g", "i", "N"):
        page.keyboard.press(key)
    expect(page.get_by_text("You marked 3 of 4 topics")).to_be_visible()
    assert marks() == {"A.1": "gladly", "A.2": "if-needed", "A.3": "no"}
    look("bids")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("u")
    expect(page.get_by_text("You marked 2 of 4 topics")).to_be_visible()
    page.get_by_role("group", name="A.4").get_by_label("Gladly").check()
    expect(page.get_by_text("You marked 3 of 4 topics")).to_be_visible()
    assert marks() == {"A.1": "gladly", "A.2": "if-needed", "A.4": "gladly"}


def test_a_mark_that_was_not_saved_is_sent_again(page: Page, scene):
    page.goto("/health/live")
    enter(page, scene.assessor)
    page.goto(f"{TASK}bids/")
    page.context.set_offline(True)
    page.get_by_role("group", name="A.1").get_by_label("Gladly").check()
    unsaved = page.get_by_text("Not saved yet").first
    expect(unsaved).to_be_visible()
    page.context.set_offline(False)
    expect(unsaved).to_be_hidden()
    expect(page.get_by_text("You marked 1 of 4 topics")).to_be_visible()
    assert marks() == {"A.1": "gladly"}


def test_a_click_changes_the_plan_and_its_hours(page: Page, scene, look):
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto(f"{TASK}assignments/plan/")
    page.get_by_role("button", name="Propose a plan").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="A.1"))
    page.get_by_label("Assessor of A.1", exact=True).select_option(label="bo")
    row.locator("[data-person]").first.click(modifiers=["Shift"])
    expect(page.get_by_label("Second assessor of A.1")).to_have_value(str(scene.assessor.pk))
    for number in (2, 3, 4):
        page.get_by_label(f"Assessor of A.{number}", exact=True).select_option(label="Nobody")
    expect(page.get_by_text("A.4 has no assessor.")).to_be_visible()
    look("plan")
    page.get_by_role("button", name="Assign topics as planned").click()
    expect(page.get_by_text("1 topic assigned")).to_be_visible()
    assert Assignment.objects.get().assessor.username == "bo"
    assert SecondPlan.objects.get(topic__query_id="A.1").assessor == scene.assessor
