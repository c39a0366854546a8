"""Ways to judge with fewer keys: one key per item, one label for all instances, marks in one post,
labels cleared and items skipped.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from arqlab.core.models import Topic
from assessment.models import Judgment, PoolItem
from tests.assessment.factories import assign, make_formula_pool
from tests.browser.conftest import enter
from tests.browser.judging import SHOWN, SMALL, TASK1, Assessor, counting
from tests.collection.factories import POSTS, load_small
from tests.factories import make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAVED, NTH = ".judge-saved", f"{SHOWN} .judge-nth:visible"
# Presses keys as fast as a script can: no frame is painted between them.
BURST = """(keys) => {
  for (const key of keys) {
    const code = /[0-9]/.test(key) ? `Digit${key}` : key;
    document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true }));
  }
}"""


def choose_one_key(assessor: Assessor) -> None:
    """Switch on, in the help, that a label submits the item."""
    assessor.press("?")
    assessor.page.get_by_role("checkbox", name="One key per item").check()
    assessor.press("Escape")


@pytest.fixture
def together(tmp_path: Path, transactional_db: None, page: Page) -> Assessor:
    """An assessor with a formula that stands twice in post 10 and once in post 1."""
    scene = make_lab()
    formula = "&lt;span class=&quot;math-container&quot; id=&quot;6&quot;&gt;$a=2c$&lt;/span&gt;"
    posts = POSTS.replace("Since", f"As {formula}, since")
    load_small(scene.lab, tmp_path, posts=posts)
    make_formula_pool(scene.task, {"A.2": {"70": [("8", "10"), ("7", "1"), ("6", "10")]}})
    assign(scene.assessor, Topic.objects.get(task=scene.task, query_id="A.2"))
    page.goto("/health/live")
    enter(page, scene.assessor)
    assessor = Assessor(page)
    assessor.open(SMALL.replace("A.1", "A.2"))
    return assessor


def test_twenty_items_take_one_key_each_and_a_burst_labels_only_what_was_painted(real_scene, page):
    page.goto("/health/live")
    enter(page, real_scene.assessor)
    assessor = Assessor(page)
    assessor.open(TASK1)
    choose_one_key(assessor)
    expected = {assessor.active: 2}
    page.evaluate(BURST, ["2", "Enter", "1", "Enter"])
    expect(page.locator(SAVED)).to_contain_text("before the item was visible")
    for number in range(19):
        expect(page.locator(SHOWN)).to_have_count(1)
        expected[assessor.active] = number % 4
        assessor.press(str(number % 4))
    expect(page.locator(SHOWN)).to_have_count(1)
    next_one = assessor.active
    assessor.press("b")
    expect(page.locator(SHOWN)).to_have_count(1)
    expected[assessor.active] = 3
    assessor.press("3")
    expect(page.locator(SHOWN)).to_have_count(1)

    assert assessor.active == next_one
    assessor.expect_saved()
    assert counting() == expected
    assert Judgment.objects.count() == 21


def test_a_burst_of_two_keys_per_item_labels_only_what_was_painted(at_work):
    first = at_work.active
    at_work.page.evaluate(BURST, ["2", "Enter", "1", "Enter"])

    expect(at_work.page.locator(SAVED)).to_contain_text("before the item was visible")
    at_work.expect_saved()
    assert counting() == {first: 2}


def test_a_post_is_shown_once_with_all_its_formulas_and_each_has_its_turn(together):
    page = together.page
    marks = page.locator(f"{SHOWN} .is-highlighted")
    expect(page.locator(f"{SHOWN} .judge-heading")).to_have_text(
        ["Answer post 10", "Question post 1"]
    )
    expect(marks).to_have_count(3)
    expect(page.locator(NTH)).to_have_text(["Place 1 of 2 in this post"])
    together.press("3")
    expect(page.locator(NTH)).to_have_text("Place 2 of 2 in this post")
    expect(marks.nth(0)).to_have_class("math-container is-highlighted is-other")
    marks.nth(0).click()
    expect(page.locator(NTH)).to_have_text("Place 1 of 2 in this post")
    together.press("2", "1", "0", "Enter")

    expect(page.get_by_role("heading", name="A.2 is complete")).to_be_visible()
    labels = {row.instance.doc_id: row.label for row in Judgment.objects.filter(is_current=True)}
    assert labels == {"6": 2, "8": 1, "7": 0}


def test_shift_and_a_digit_label_all_instances_that_have_no_label(together):
    together.press("3", "Shift+Digit1", "Enter")

    expect(together.page.get_by_role("heading", name="A.2 is complete")).to_be_visible()
    labels = {row.instance.doc_id: row.label for row in Judgment.objects.filter(is_current=True)}
    assert labels == {"6": 3, "8": 1, "7": 1}


@pytest.mark.parametrize("by", ["key", "click"])
def test_a_label_that_was_not_submitted_can_be_cleared(at_work, by):
    chosen = at_work.page.get_by_role("button", name="High", pressed=True)
    at_work.press("3")
    expect(chosen).to_be_visible()
    if by == "key":
        at_work.press("Backspace")
    else:
        chosen.click()
    expect(chosen).to_have_count(0)
    at_work.reload()
    at_work.press("Enter")

    expect(at_work.page.locator(SAVED)).to_contain_text("Choose a label first")
    assert Judgment.objects.count() == 0


@pytest.mark.parametrize("focus", ["nothing", "a clicked label", "the item"])
def test_space_scrolls_the_item_wherever_the_focus_is(at_work, focus):
    page = at_work.page
    page.set_viewport_size({"width": 1024, "height": 240})
    page.locator(f"{SHOWN} .post").evaluate("post => post.append('long '.repeat(2000))")
    if focus == "nothing":
        page.evaluate("document.activeElement.blur()")
    if focus == "a clicked label":
        page.get_by_role("button", name="Low").click()
    at_work.press("Space")

    page.wait_for_function(
        "() => document.querySelector('.judge-item.is-shown .judge-scroll').scrollTop > 0"
    )
    assert Judgment.objects.count() == 0


def test_an_item_that_was_skipped_by_mistake_is_brought_back(at_work):
    skipped = at_work.active
    at_work.press("l")
    expect(at_work.page.locator(f"#instance-{skipped}")).to_have_count(0)
    at_work.expect_saved()
    at_work.press("b")
    expect(at_work.page.locator(f"{SHOWN} #instance-{skipped}")).to_be_visible()
    at_work.judge(2)
    at_work.expect_saved()

    assert counting() == {skipped: 2}
    assert PoolItem.objects.get(instances=skipped).done_at is not None
