"""The planner in a browser: by keyboard alone, numbers at once, nothing opened is closed, nothing
shifts.
"""

import pytest
from playwright.sync_api import Page, expect

from assessment.models import Pool
from tests.browser.test_every_page import WATCH, enter
from tests.evaluation.factories import make_run
from tests.factories import make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PLAN = "/labs/arqmath-x/tasks/task1/pools/plan/"


@pytest.fixture
def planner(page: Page) -> Page:
    """The planner of a task whose primary run has sixty items, opened by an organizer."""
    return opened(page)


def opened(page: Page) -> Page:
    scene = make_lab()
    make_run(
        scene.team,
        scene.task,
        {"A.1": [str(number) for number in range(60)]},
        tag="deep",
        is_primary=True,
    )
    page.add_init_script(WATCH)
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto(PLAN)
    return page


def test_a_slider_is_moved_by_keys_and_the_numbers_follow(planner, look):
    items = planner.locator(".figures dd").first
    expect(items).to_have_text("45")
    look("pool-plan")
    planner.get_by_text("Items per topic as a table").click()
    planner.evaluate("window.shift = 0")

    planner.get_by_role("slider", name="Primary runs").focus()
    for _ in range(3):
        planner.keyboard.press("ArrowRight")

    expect(items).to_have_text("48")
    assert planner.locator("#id_primary").input_value() == "48"
    assert "primary=48" in planner.url
    assert planner.locator("#topic-sizes-fold").get_attribute("open") == ""
    assert planner.locator("[data-preset][aria-current]").count() == 0
    assert planner.get_by_role("slider", name="Primary runs").evaluate(
        "each => each === document.activeElement"
    )
    assert planner.evaluate("window.shift") <= 0.001


@pytest.mark.parametrize("width", [1440, 390])
def test_the_numbers_follow_a_slider_in_sight_before_it_is_let_go(planner, width):
    planner.set_viewport_size({"width": width, "height": 700})
    slider, items = (
        planner.get_by_role("slider", name="Primary runs"),
        planner.locator(".figures dd").first,
    )
    box = slider.bounding_box()
    planner.mouse.move(box["x"] + box["width"] * 0.45, box["y"] + box["height"] / 2)
    planner.mouse.down()
    for share in (0.3, 0.2, 0.1):
        planner.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
        expect(items).to_have_text(slider.input_value())
    assert int(items.inner_text()) < 15
    expect(slider).to_be_in_viewport(ratio=1)
    expect(items).to_be_in_viewport(ratio=1)
    planner.mouse.up()


def test_an_answer_that_fails_leaves_nothing_to_freeze_and_the_next_one_does(browser, served):
    # A page of its own: htmx tells the console of the failure, which `page` takes for a complaint.
    planner = opened(browser.new_context(base_url=served.url).new_page())
    items, freeze = (
        planner.locator(".figures dd").first,
        planner.get_by_role("link", name="Freeze pool…"),
    )
    told = planner.get_by_text("These figures are out of date")
    expect(freeze).to_be_visible()
    planner.route("**/pools/plan/?*", lambda route: route.abort())

    planner.locator("#id_primary").fill("9")

    expect(told).to_be_visible()
    expect(freeze).to_be_hidden()
    planner.unroute("**/pools/plan/?*")
    planner.get_by_text("Items per topic as a table").click()
    planner.locator("#topic-sizes-fold .sort-button").first.click()
    planner.locator("#id_primary").fill("8")
    expect(items).to_have_text("8")
    expect(told).to_be_hidden()
    expect(freeze).to_be_visible()
    expect(planner.locator("#plan-announcement")).to_contain_text("Items 8")
    expect(planner.locator("#topic-sizes-fold th").first).to_have_attribute(
        "aria-sort", "ascending"
    )
    planner.context.close()


def test_an_invalid_number_is_reported_and_the_planner_continues(planner):
    planner.locator("#id_primary").fill("2000")
    expect(planner.get_by_role("alert")).to_contain_text(
        "Enter a whole number from 0 to 1000 for primary runs."
    )

    planner.locator("#id_primary").fill("10")
    expect(planner.locator(".figures dd").first).to_have_text("10")


def test_a_pool_is_planned_frozen_and_closed_in_the_browser(planner, look):
    planner.get_by_role("link", name="Freeze pool…").click()
    expect(planner.get_by_role("heading", name="Freeze this pool?")).to_be_visible()
    look("pool-freeze")
    planner.get_by_label("Continue although").check()
    planner.get_by_role("button", name="Freeze pool").press("Enter")

    expect(planner.get_by_role("heading", name="Pool")).to_be_visible()
    look("pool-detail")
    planner.get_by_role("button", name="Close judging").press("Enter")
    expect(planner.get_by_text("Closed for judging")).to_be_visible()
    assert Pool.objects.get().items.count() == 45


def test_without_scripts_the_settings_are_counted_by_a_button(planner, browser, served):
    quiet = browser.new_context(base_url=served.url, java_script_enabled=False)
    quiet.add_cookies(planner.context.cookies())
    page = quiet.new_page()
    page.goto(PLAN)
    page.locator("#id_primary").fill("7")
    page.get_by_role("button", name="Update plan").click()

    expect(page.locator(".figures dd").first).to_have_text("7")
    quiet.close()
