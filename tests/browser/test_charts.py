"""Charts in a browser: drawn in the colours of the page, with their numbers beside."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from assessment.models import PoolInstance
from tests.assessment.factories import judge, make_pool
from tests.browser.test_every_page import enter
from tests.factories import make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TASK = "/labs/arqmath-x/tasks/task1/"


@pytest.fixture
def scene(transactional_db):
    return make_lab()


def test_label_shares_are_stacked_in_the_colours_of_the_labels(page: Page, scene, look):
    make_pool(scene.task)
    for doc_id, label in {"10": 3, "11": 3, "12": 0}.items():
        instance = PoolInstance.objects.get(item__topic__query_id="A.1", doc_id=doc_id)
        judge(scene.assessor, instance, label)
    page.goto("/healthz/")
    enter(page, scene.organizer)
    page.goto(f"{TASK}qrels/")

    chart = page.locator("#label-shares-chart")
    # The grey of Not relevant, by day and by night.
    expect(chart.locator('path[fill="rgb(213, 210, 202)"]')).to_have_count(1)
    page.emulate_media(color_scheme="dark")
    expect(chart.locator('path[fill="rgb(90, 96, 105)"]')).to_have_count(1)
    look("label-shares")
    chart.hover(position={"x": 400, "y": 100})
    expect(chart.get_by_text("High: 2 (66.7%)")).to_be_visible()
    expect(chart.get_by_text("Not relevant: 1 (33.3%)")).to_be_visible()
