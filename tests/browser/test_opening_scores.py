"""A score opens in a browser, link by link, as far as each role may go."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from arqlab.core.models import Task
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.assessment.factories import judge, make_pool
from tests.browser.conftest import enter
from tests.collection.factories import load_small
from tests.evaluation.factories import make_qrels, make_run
from tests.factories import make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AT = datetime(2026, 11, 21, tzinfo=UTC)
BOARD = "/labs/arqmath-x/tasks/task1/leaderboard/"


@pytest.fixture
def scene(transactional_db, tmp_path):
    """Return a lab with a released board of two runs and a judged item."""
    scene = make_lab()
    load_small(scene.lab, tmp_path)
    qrels = make_qrels(scene.task, {"A.1": {"10": 3, "11": 0}})
    make_run(scene.team, scene.task, {"A.1": ["11", "10"]}, tag="ours")
    make_run(scene.other_team, scene.task, {"A.1": ["10"]}, tag="theirs")
    score_waiting(at=AT)
    pool = make_pool(scene.task)
    instance = pool.items.get(item="10").instances.get()
    judge(scene.assessor, instance, 3, comment="A full proof.")
    release_leaderboard(qrel_set=qrels, by=None, at=AT)
    return scene


def open_score(page: Page, tag: str) -> None:
    """Go from the leaderboard to the scores of a run by topic."""
    page.goto(BOARD)
    page.locator("#board tr", has_text=tag).locator("td a").first.click()


def test_an_organizer_opens_a_score_down_to_the_judgment_and_the_thread(page: Page, scene, look):
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto(BOARD)
    expect(page.locator("#spread-chart").get_by_text("theirs")).to_be_visible()
    open_score(page, "ours")
    page.locator("#topics td.num a").first.click()
    expect(page.get_by_role("heading", name="theirs")).to_be_visible()
    look("ranking")
    page.locator(".ranking-table a", has_text="High").first.click()
    expect(page.get_by_text("A full proof.")).to_be_visible()
    page.locator("#judgments a", has_text="10").first.click()
    expect(page.locator("#post-10")).to_be_visible()


def test_a_team_opens_its_own_score_and_no_other_if_no_run_is_published(page: Page, scene):
    Task.objects.update(published_runs="none")
    page.goto("/health/live")
    enter(page, scene.member)
    open_score(page, "theirs")
    expect(page.locator("#topics td.num a")).to_have_count(0)
    open_score(page, "ours")
    page.locator("#topics td.num a").first.click()
    expect(page.locator(".ranking-table")).to_contain_text("High")
    expect(page.locator(".ranking-table .label").locator("xpath=ancestor::a")).to_have_count(0)


def test_a_visitor_opens_the_topic_and_its_labels_after_the_release(page: Page, scene, look):
    open_score(page, "ours")
    page.locator("#topics th a").first.click()
    expect(page.locator("#run-values-chart svg")).to_be_visible()
    look("topic-scores")
    expect(page.locator("#relevant")).to_contain_text("High")
    page.locator("#run-values a", has_text="theirs").click()
    expect(page.get_by_role("heading", name="A.1 by theirs")).to_be_visible()
    expect(page.locator(".ranking-table").first).to_contain_text("High")
