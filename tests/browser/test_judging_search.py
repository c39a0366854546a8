"""The search with systems beside the item that is judged."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.searching import LIVE
from tests.assessment.factories import assign, make_pool
from tests.browser.judging import SHOWN, Assessor
from tests.browser.test_every_page import AXE, JUDGE
from tests.collection.factories import load_small
from tests.factories import Scene, make_lab
from tests.served import Server

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def small(served: Server, settings: Settings, tmp_path: Path) -> Scene:
    """The assessor has A.1 with the answers 10 and 12, and the indexes of the systems are built."""
    scene = make_lab()
    load_small(scene.lab, tmp_path)
    settings.DATA_DIR = served.folder
    for live in LIVE:
        if live.build and live.key != "dense":
            live.build(Sources(scene.task), lambda done, total: None)
    make_pool(scene.task, {"A.1": ["10", "12"]})
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    return scene


def test_a_click_on_a_formula_of_the_item_searches_beside_it_and_keys_still_judge(
    at_work: Assessor,
) -> None:
    page = at_work.page
    at_work.press("f")
    search = page.get_by_role("region", name="Search with systems")
    expect(search.get_by_role("searchbox")).to_be_focused()
    page.locator(f"{SHOWN} .math-container").first.click()
    result = search.locator(".result", has=page.locator(".is-same")).first
    expect(result).to_contain_text("Answer 10")
    page.evaluate(AXE)
    assert page.evaluate(JUDGE, None) == []

    result.get_by_role("link").first.click()
    expect(page.get_by_role("dialog", name="Thread")).to_contain_text("Since")
    at_work.press("Escape", "f")
    expect(search).to_be_hidden()
    at_work.press("3")
    expect(page.locator(f"{SHOWN} .judge-label[data-label='3']")).to_have_attribute(
        "aria-pressed", "true"
    )
