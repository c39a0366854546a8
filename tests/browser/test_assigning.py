"""An organizer assigns the topics that a filter shows, by mouse and by keyboard."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from assessment.models import Assignment, PoolItem
from tests.assessment.factories import assign, judge, make_pool
from tests.browser.test_every_page import enter
from tests.factories import TopicFactory, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGE = "/labs/arqmath-x/tasks/task1/assignments/"


@pytest.fixture
def scene(transactional_db):
    scene = make_lab()
    for number in range(3, 8):
        TopicFactory(task=scene.task, query_id=f"A.{number}", position=number)
    make_pool(scene.task)
    return scene


def assigned() -> list[str]:
    return list(
        Assignment.objects.order_by("topic__position").values_list("topic__query_id", flat=True)
    )


def test_all_topics_that_the_filter_shows_are_ticked_at_once(page: Page, scene, look):
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto(PAGE)
    page.get_by_label("Filter rows").fill("unassigned")
    page.get_by_label("All", exact=True).check()
    expect(page.get_by_text("2 topics selected")).to_be_visible()
    look("assignments")
    page.get_by_label("Assessor for the selected topics").select_option(label=scene.assessor.name)
    page.get_by_role("button", name="Assign", exact=True).click()

    expect(page.get_by_text("2 assignments made.")).to_be_visible()
    assert assigned() == ["A.1", "A.2"]


@pytest.mark.smoke
def test_shift_ticks_a_range_and_the_keyboard_does_the_rest(page: Page, scene):
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto(PAGE)
    page.get_by_label("A.3", exact=True).click()
    page.get_by_label("A.6", exact=True).click(modifiers=["Shift"])
    expect(page.get_by_text("4 topics selected")).to_be_visible()
    page.get_by_label("A.4", exact=True).focus()
    page.keyboard.press("Space")
    page.get_by_label("Assessor for the selected topics").focus()
    page.keyboard.type(scene.assessor.name)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_text("3 assignments made.")).to_be_visible()
    assert assigned() == ["A.3", "A.5", "A.6"]


def test_the_judged_days_are_drawn_with_a_dashed_forecast(page: Page, scene, look):
    assign(scene.assessor, *scene.task.topics.all())
    for item in PoolItem.objects.all()[:2]:
        judge(scene.assessor, item.instances.get(), 3, judged_at=timezone.now() - timedelta(days=2))
    scene.task.deadline = timezone.now() + timedelta(days=3)
    scene.task.judging_deadline = timezone.now() + timedelta(days=6)
    scene.task.save()
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto(PAGE)

    chart = page.locator("#judged-days-chart svg")
    expect(chart.get_by_text("submission deadline")).to_be_visible()
    expect(chart.get_by_text("judging deadline")).to_be_visible()
    expect(chart.locator("path[stroke-dasharray]").first).to_be_visible()
    look("judged-days")
    page.locator("#judged-days-chart").hover(position={"x": 60, "y": 120})
    expect(page.locator("#judged-days-chart").get_by_text("2 judged")).to_be_visible()
    page.get_by_text("Judged per day as a table").click()
    expect(page.locator("#judged-days tbody tr").first).to_contain_text("2")
