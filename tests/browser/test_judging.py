"""Assessors at work: by keyboard alone, with the network lost, the browser closed, the session ended, and a topic finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from arqlab.core.models import User
from assessment.models import Judgment, PoolItem
from tests.assessment.factories import assign, make_pool
from tests.browser.conftest import CHROMIUM
from tests.browser.judging import SHOWN, TASK1, TASK2, Assessor
from tests.browser.realitems import real_items
from tests.browser.test_every_page import enter
from tests.collection.factories import load_small
from tests.factories import Scene, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SMALL = "/labs/arqmath-x/tasks/task1/judge/A.1/"
SAVED, NOTICES = ".judge-saved", ".judge-notices"


@pytest.fixture
def real_scene(shared_data: Path, tmp_path: Path, transactional_db: None) -> Scene:
    scene = make_lab()
    real_items(scene, shared_data, tmp_path)
    return scene


@pytest.fixture
def small(tmp_path: Path, transactional_db: None) -> Scene:
    """The assessor has A.1 with the answers 10, 11 and 12."""
    scene = make_lab()
    load_small(scene.lab, tmp_path)
    make_pool(scene.task)
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    return scene


@pytest.fixture
def at_work(page: Page, small: Scene) -> Assessor:
    """The assessor, signed in, with the first item of A.1 before the eyes."""
    page.goto("/healthz/")
    enter(page, small.assessor)
    assessor = Assessor(page)
    assessor.open(SMALL)
    return assessor


@pytest.fixture
def started(browser, live_server, tmp_path: Path) -> Iterator[Callable[[User], BrowserContext]]:
    """Start a browser of its own that keeps its profile in a folder; starting it again finds the profile as it was."""
    running: list[BrowserContext] = []

    def start(person: User) -> BrowserContext:
        context = browser.browser_type.launch_persistent_context(
            str(tmp_path / "profile"), executable_path=CHROMIUM, base_url=live_server.url
        )
        running.append(context)
        context.pages[0].goto("/healthz/")
        enter(context.pages[0], person)
        return context

    yield start
    for context in running:
        context.close()


def current() -> dict[int, tuple[int, str]]:
    """Give the labels and comments that count, by instance."""
    return {row.instance_id: (row.label, row.comment) for row in Judgment.objects.filter(is_current=True)}


def go_back_and_change(assessor: Assessor, times: int, reason: str) -> None:
    assessor.press(*"b" * times)
    assessor.change(2 if assessor.said[assessor.active][0] == 3 else 3, reason)


def judge_without_network(assessor: Assessor, context: BrowserContext) -> None:
    """The network is lost for three and comes back."""
    context.set_offline(True)
    for label in (3, 0, 1):
        assessor.judge(label, comment="said without a network")
    expect(assessor.page.locator(SAVED)).to_contain_text("Offline. 3 judgments wait in this browser")
    context.set_offline(False)
    assessor.expect_saved()


def close_in_the_middle(assessor: Assessor, context: BrowserContext) -> int:
    """One judgment is not sent and a comment is half typed when the browser closes; gives the instance of the comment."""
    context.set_offline(True)
    assessor.judge(2, comment="said before the browser was closed")
    assessor.press("c")
    assessor.page.keyboard.type("half a com")
    unfinished = assessor.active
    context.close()
    return unfinished


def resume(assessor: Assessor, page: Page, unfinished: int) -> None:
    """The browser is started again, and the comment finished."""
    assessor.page = page
    assessor.open(TASK1)
    assert assessor.active == unfinished
    expect(page.locator(f"{SHOWN} .judge-comment")).to_have_value("half a com")
    assessor.press("c", "End")
    page.keyboard.type("ment")
    assessor.press("Escape", "1", "Enter")
    assessor.said[unfinished] = (1, "half a comment")


def test_answers_and_formulas_are_judged_by_keyboard_through_losses_of_all_kinds(real_scene, started):
    context = started(real_scene.assessor)
    assessor = Assessor(context.pages[0])
    assessor.open(TASK1)
    for number in range(8):
        assessor.judge(number % 4, comment=f"No. {number}: x² & <y>" if number % 3 == 0 else "")
    go_back_and_change(assessor, 2, "It proves only half.")
    go_back_and_change(assessor, 5, "")
    judge_without_network(assessor, context)
    unfinished = close_in_the_middle(assessor, context)
    resume(assessor, started(real_scene.assessor).pages[0], unfinished)
    while len(assessor.said) < 20:
        assessor.judge(len(assessor.said) % 4)
    assessor.expect_saved()
    assessor.open(TASK2)
    for number in range(10):
        assessor.judge(number % 4, 3, 0, comment="a formula" if number == 4 else "")
    assessor.expect_saved()

    history = Judgment.objects.exclude(supersedes=None)
    assert current() == assessor.said
    assert Judgment.objects.count() == len(assessor.said) + len(assessor.changed)
    assert {row.instance_id: row.reason for row in history} == assessor.changed
    assert PoolItem.objects.exclude(done_at=None).count() == 30
