"""Charts in a browser: drawn in the colours of the page, with their numbers beside."""

import pytest
from playwright.sync_api import Page, expect

from assessment.models import PoolInstance
from tests.assessment.factories import judge, make_pool
from tests.browser.test_every_page import enter
from tests.evaluation.factories import make_run
from tests.factories import make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TASK = "/labs/arqmath-x/tasks/task1/"


@pytest.fixture
def scene(transactional_db):
    return make_lab()


def test_what_draws_charts_is_loaded_when_one_comes_near_the_view(page: Page, scene):
    make_pool(scene.task)
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.set_viewport_size({"width": 1440, "height": 100})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{TASK}pools/1/")
    chart = page.locator("#topic-sizes-chart")
    page.wait_for_load_state("networkidle")
    assert not any("/js/draw-" in url for url in asked)

    chart.scroll_into_view_if_needed()

    expect(chart.locator("svg")).to_be_visible()


def test_label_shares_are_stacked_in_the_colours_of_the_labels(page: Page, scene, look):
    make_pool(scene.task)
    for doc_id, label in {"10": 3, "11": 3, "12": 0}.items():
        instance = PoolInstance.objects.get(item__topic__query_id="A.1", doc_id=doc_id)
        judge(scene.assessor, instance, label)
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto(f"{TASK}qrels/")

    chart = page.locator("#topics-chart")
    # The grey of Not relevant, by day and by night.
    expect(chart.locator('path[fill="rgb(213, 210, 202)"]')).to_have_count(1)
    page.emulate_media(color_scheme="dark")
    expect(chart.locator('path[fill="rgb(90, 96, 105)"]')).to_have_count(1)
    look("label-shares")
    chart.hover(position={"x": 400, "y": 100})
    expect(chart.get_by_text("High: 2 (66.7%)")).to_be_visible()
    expect(chart.get_by_text("Not relevant: 1 (33.3%)")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 390])
def test_overlap_is_a_heat_map_that_follows_the_settings_and_the_window(
    page: Page, scene, width, look
):
    lists = {"A.1": ["10", "11", "12", "13"]}, {"A.1": ["10", "14"]}
    for tag, items in zip(("wide", "short"), lists, strict=True):
        make_run(scene.team, scene.task, items, tag=tag, is_primary=tag == "wide")
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{TASK}pools/plan/")
    chart = page.locator("#plan-overlap-chart")

    cells = chart.locator("path[fill-opacity]")
    expect(cells).to_have_count(2)
    expect(cells.first).to_have_attribute("fill-opacity", "0.25")
    page.get_by_text("Overlap as a table").click()
    page.locator("#id_primary").fill("2")
    # Of the two items of the longer run, one is in the shorter.
    expect(cells.first).to_have_attribute("fill-opacity", "0.5")
    expect(page.locator("#plan-overlap")).to_be_visible()
    look("overlap")
    page.set_viewport_size({"width": width, "height": 900})
    expect(cells).to_have_count(2)
    frame, box = chart.bounding_box(), cells.first.bounding_box()
    assert box["x"] + box["width"] <= frame["x"] + frame["width"]
    cells.first.hover()
    expect(chart.get_by_text("50% of its items are also in")).to_be_visible()
