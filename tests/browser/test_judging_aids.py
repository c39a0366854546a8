"""What helps an assessor to read and to write: the thread over the page, and other aids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from assessment.models import PoolItem
from tests.assessment.factories import assign, make_formula_pool, make_pool
from tests.browser.conftest import enter
from tests.browser.judging import SHOWN, SMALL
from tests.browser.test_every_page import AXE
from tests.collection.factories import load_small
from tests.factories import Scene, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FORMULAS = SMALL.replace("A.1", "A.2")
LONG = "".join(f"&lt;p&gt;Sentence {number} of a long answer.&lt;/p&gt;" for number in range(80))
POSTS = f"""<?xml version="1.0" encoding="utf-8"?>
<posts>
  <row Id="1" PostTypeId="1" Title="Why is it even?" Body="&lt;p&gt;Not seen.&lt;/p&gt;" />
  <row Id="10" PostTypeId="2" ParentId="1" Body="{LONG}" />
  <row Id="11" PostTypeId="2" ParentId="1" Body="&lt;p&gt;Even numbers: \
&lt;span class=&quot;math-container&quot; id=&quot;8&quot;&gt;$a=2b$&lt;/span&gt;&lt;/p&gt;" />
</posts>
"""


@pytest.fixture
def small(tmp_path: Path, transactional_db: None) -> Scene:
    """The assessor has A.1 with the answers 10, which is long, and 11 of a thread, and A.2 with a
    formula of 11.
    """
    scene = make_lab()
    load_small(scene.lab, tmp_path, posts=POSTS, formulas=None)
    make_pool(scene.task, {"A.1": ["10", "11"]})
    make_formula_pool(scene.task, {"A.2": {"80": [("8", "11")]}})
    assign(scene.assessor, *scene.task.topics.filter(query_id__in=["A.1", "A.2"]))
    return scene


def panel_of(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Thread").locator(".judge-thread-scroll")


def test_the_thread_opens_over_the_page_and_both_keep_their_place(at_work):
    item, panel = at_work.page.locator(f"{SHOWN} .judge-scroll"), panel_of(at_work.page)
    item.evaluate("pane => pane.scrollTo(0, 300)")
    at_work.press("t")
    expect(panel.get_by_role("heading", name="Answer 10")).to_be_in_viewport()
    expect(panel).to_be_focused()
    panel.evaluate("pane => pane.scrollTo(0, 700)")
    at_work.press("3", "Escape")
    expect(panel).to_be_hidden()
    expect(at_work.page.get_by_role("button", pressed=True)).to_have_count(0)
    expect(at_work.page.locator(f"{SHOWN} .judge-passage")).to_be_focused()
    at_work.press("t")

    expect(panel).to_be_visible()
    assert panel.evaluate("pane => pane.scrollTop") == 700
    assert item.evaluate("pane => pane.scrollTop") == 300
    at_work.press("t")
    expect(panel).to_be_hidden()
    at_work.judge(2)
    at_work.expect_saved()


def test_the_thread_of_a_formula_opens_at_the_formula(at_work):
    at_work.open(FORMULAS)
    at_work.press("t")

    mark = panel_of(at_work.page).locator("mark.is-highlighted, .is-highlighted")
    expect(mark).to_be_in_viewport()
    expect(panel_of(at_work.page)).to_contain_text("Why is it even?")


def test_a_link_to_a_thread_opens_it_over_the_page_and_with_ctrl_in_a_new_tab(at_work):
    page = at_work.page
    link = page.locator(SHOWN).get_by_role("link", name="Thread")
    with page.context.expect_page() as opened:
        link.click(modifiers=["Control"])
    expect(opened.value).to_have_url(re.compile(r"/posts/10/#post-10$"))
    opened.value.close()
    expect(panel_of(page)).to_be_hidden()
    link.click()
    expect(panel_of(page)).to_be_visible()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open in a new tab").click()
    expect(opened.value).to_have_url(re.compile(r"/posts/10/#post-10$"))


def test_with_the_question_focused_its_own_thread_opens(at_work):
    at_work.press("q", "t")

    expect(panel_of(at_work.page)).to_contain_text("The thread of this topic is unknown")


def test_without_a_session_or_a_connection_the_dialog_says_so(at_work, small):
    page, panel = at_work.page, panel_of(at_work.page)
    page.context.set_offline(True)
    at_work.press("t")
    expect(panel).to_contain_text("The server is not responding")
    page.context.set_offline(False)
    enter(page, small.organizer)
    panel.get_by_role("button", name="Try again").click()
    expect(panel).to_contain_text("You are signed out")
    expect(panel.get_by_role("link", name="Sign in")).to_be_visible()
    expect(panel.locator(".thread-post")).to_have_count(0)
    enter(page, small.assessor)
    panel.get_by_role("button", name="Try again").click()

    expect(panel.get_by_role("heading", name="Answer 11")).to_be_attached()


def test_a_thread_that_is_gone_is_not_shown(at_work, small):
    small.lab.collections.get().posts.all().delete()
    at_work.press("t")

    expect(panel_of(at_work.page)).to_contain_text("no longer in the collection")


@pytest.mark.parametrize("width", [1440, 390])
def test_the_dialog_of_the_thread_breaks_no_rule_of_axe(at_work, width):
    at_work.page.set_viewport_size({"width": width, "height": 800})
    at_work.press("t")
    expect(panel_of(at_work.page).locator(".thread-post").first).to_be_attached()
    at_work.page.evaluate(AXE)

    assert at_work.page.evaluate("axe.run('#judge-thread').then((found) => found.violations)") == []
    assert PoolItem.objects.filter(done_at=None).count() == 3


def test_the_labels_given_in_the_thread_appear_beside_the_item_and_lead_to_it(at_work):
    first = at_work.active
    at_work.judge(3)
    at_work.expect_saved()
    line = at_work.page.locator(f"{SHOWN} .judge-related")
    expect(line).to_contain_text("You labelled 1 other answer of this thread:")
    before = at_work.page.locator(f"{SHOWN} .judge-passage-head").bounding_box()
    assert before["height"] < 50
    line.get_by_role("link", name="A.1, item 1: High").click()

    expect(at_work.page.locator(f"{SHOWN} #instance-{first}")).to_be_visible()


def test_the_line_of_related_labels_moves_nothing(at_work):
    at_work.judge(3)
    at_work.expect_saved()
    text = at_work.page.locator(f"{SHOWN} .post")
    before = text.bounding_box()
    expect(at_work.page.locator(f"{SHOWN} .judge-related")).to_contain_text("You labelled")

    assert text.bounding_box() == before


@pytest.mark.parametrize("by", ["key", "click"])
def test_a_recent_comment_is_chosen_for_an_empty_comment(at_work, by):
    page, popup = at_work.page, at_work.page.get_by_role("group", name="Your recent comments")
    at_work.judge(3, comment="No proof 1")
    second = at_work.active
    field = page.locator(f"{SHOWN} .judge-comment")
    if by == "key":
        at_work.press("c", "ArrowDown")
        expect(popup.get_by_role("button", name="No proof 1")).to_be_focused()
        at_work.press("3", "ArrowUp")
        expect(field).to_be_focused()
        expect(popup).to_be_hidden()
        at_work.press("ArrowDown")
        expect(popup.get_by_role("button")).to_be_focused()
        at_work.press("Enter")
    else:
        page.locator(SHOWN).get_by_role("button", name="Your recent comments").click()
        popup.get_by_role("button", name="No proof 1").click()
    expect(field).to_have_value("No proof 1")
    expect(field).to_be_focused()
    expect(page.get_by_role("button", pressed=True)).to_have_count(0)
    at_work.reload()

    assert at_work.active == second
    expect(field).to_have_value("No proof 1")


def test_without_earlier_comments_the_page_says_so(at_work):
    at_work.press("c", "ArrowDown")

    expect(at_work.page.locator(".judge-saved")).to_have_text(
        "You have no earlier comments in this task."
    )
