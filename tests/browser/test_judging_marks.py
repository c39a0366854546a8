"""Marks on the judging page: made with the mouse or the keyboard, painted, kept and sent."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from assessment.models import Judgment
from tests.assessment.factories import assign, make_pool
from tests.browser.conftest import enter
from tests.browser.judging import SHOWN, SMALL, Assessor
from tests.browser.test_every_page import AXE, JUDGE
from tests.browser.test_judging_aids import HIGHLIGHTED, POSTS
from tests.collection.factories import load_small
from tests.factories import make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MARKS, CHOSEN = "judge-marks", "judge-chosen"
FIRST, SECOND = "Sentence 0 of a long answer.", "Sentence 1 of a long answer."
LINE = ".judge-saved"


@pytest.fixture
def at_work(page: Page, tmp_path: Path, transactional_db: None) -> Assessor:
    """The assessor, signed in, with the first of two answers: a long one, and one of a formula."""
    scene = make_lab()
    load_small(scene.lab, tmp_path, posts=POSTS, formulas=None)
    make_pool(scene.task, {"A.1": ["10", "11"]})
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    page.goto("/health/live")
    enter(page, scene.assessor)
    assessor = Assessor(page)
    assessor.open(SMALL)
    return assessor


def painted(page: Page, name: str) -> list[str]:
    found: list[str] = page.evaluate(HIGHLIGHTED, name)
    return found


def test_passages_are_marked_by_mouse_and_keyboard_and_stay_with_their_label(at_work):
    page = at_work.page
    at_work.press("m")
    assert painted(page, CHOSEN) == [FIRST]
    page.evaluate(AXE)
    assert page.evaluate(JUDGE, None) == []
    at_work.press("ArrowDown", "Enter")
    expect(page.locator(LINE)).to_have_text(f"Marked: “{SECOND}”")
    at_work.press("Escape")
    page.get_by_text(FIRST).dblclick(position={"x": 10, "y": 5})
    page.get_by_role("button", name="mark", exact=True).click()
    assert painted(page, MARKS) == ["Sentence", SECOND]
    page.get_by_text(SECOND).click()
    at_work.press("m")
    assert painted(page, MARKS) == ["Sentence"]
    page.get_by_text(FIRST).click(position={"x": 10, "y": 5})
    at_work.press("m")
    expect(page.locator(LINE)).to_have_text("Mark removed: “Sentence”")
    page.get_by_text(SECOND).click()
    at_work.press("m")
    at_work.reload()
    page.wait_for_function("CSS.highlights.get('judge-marks')?.size")
    assert painted(page, MARKS) == [SECOND]
    at_work.judge(2)
    at_work.expect_saved()

    assert [mark["exact"] for mark in Judgment.objects.get().marks] == [SECOND]


def test_a_formula_is_marked_by_key_or_under_the_pointer_and_marks_can_be_changed(at_work):
    at_work.judge(2)
    page, formula = at_work.page, at_work.page.locator(f"{SHOWN} .math-container")
    at_work.press("m", "ArrowRight", "m")
    expect(formula).to_have_class("math-container is-chosen-passage is-decisive")
    at_work.press("Backspace", "Escape")
    expect(formula).to_have_class("math-container")
    formula.hover()
    at_work.press("m")
    expect(formula).to_have_class("math-container is-decisive")
    at_work.press("m")
    expect(formula).to_have_class("math-container")
    page.mouse.move(0, 0)
    at_work.press("b")
    expect(page.get_by_text(FIRST)).to_be_visible()
    expect(page.locator(SHOWN)).to_have_count(1)
    page.get_by_text(FIRST).click()
    at_work.press("m")
    expect(page.locator(LINE)).to_contain_text("Marked; press Enter to submit the change")
    at_work.press("Enter")
    expect(formula).to_be_visible()
    at_work.expect_saved()

    assert [[mark["exact"] for mark in row.marks] for row in Judgment.objects.order_by("pk")] == [
        [],
        [FIRST],
    ]
