"""What helps an assessor to read and to write: the thread over the page, and other aids."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from assessment.models import PoolItem
from tests.assessment.factories import assign, make_formula_pool, make_pool
from tests.browser.conftest import enter
from tests.browser.judging import SHOWN, SMALL
from tests.browser.test_every_page import AXE, JUDGE
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
    scene.task.topics.filter(query_id="A.1").update(
        title_html="Why is an even number long?", tags=["parity"], body_html="<p>It is long.</p>"
    )
    assign(scene.assessor, *scene.task.topics.filter(query_id__in=["A.1", "A.2"]))
    return scene


# The highlighted texts, by the name of their highlight.
HIGHLIGHTED = """(name) => [...CSS.highlights.get(name) ?? []].map(String)"""
FOUND, CURRENT, TERMS = "judge-find", "judge-find-current", "judge-terms"


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


def test_text_is_found_in_question_and_item_and_esc_returns_to_the_item(at_work):
    page = at_work.page
    box, count = page.get_by_role("searchbox"), page.locator(".judge-find-count")
    item = page.locator(f"{SHOWN} .judge-scroll")
    at_work.press("/")
    page.keyboard.type("LONG")
    expect(count).to_have_text("3 of 82, item")
    assert page.evaluate(HIGHLIGHTED, FOUND) == ["long"] * 82
    assert item.evaluate("pane => pane.scrollTop") == 0
    page.keyboard.type("  answer.")
    expect(count).to_have_text("1 of 80, item")
    at_work.press("Shift+Enter", "Shift+Enter")
    expect(count).to_have_text("79 of 80, item")
    reached = item.evaluate("pane => pane.scrollTop")
    assert reached > 500
    assert page.evaluate(HIGHLIGHTED, CURRENT) == ["long answer."]
    at_work.press("Escape")
    expect(box).to_be_hidden()

    expect(page.locator(f"{SHOWN} .judge-passage")).to_be_focused()
    assert page.evaluate(HIGHLIGHTED, FOUND) == []
    assert item.evaluate("pane => pane.scrollTop") == reached
    at_work.judge(2)


def test_a_formula_is_found_by_its_latex_and_what_is_typed_labels_nothing(at_work):
    at_work.open(FORMULAS)
    page, count = at_work.page, at_work.page.locator(".judge-find-count")
    at_work.press("/")
    page.keyboard.type("= 2b")
    expect(count).to_have_text("1 of 2, item")  # the candidate, and its post
    page.keyboard.type("3")
    expect(count).to_have_text("No match")

    expect(page.get_by_role("button", pressed=True)).to_have_count(0)


def test_text_is_found_in_the_thread_and_esc_closes_first_the_box(at_work):
    page, panel = at_work.page, panel_of(at_work.page)
    at_work.press("/")
    page.keyboard.type("seen")
    expect(page.locator(".judge-find-count")).to_have_text("No match")
    page.get_by_role("button", name="In the thread").click()
    expect(page.locator(".judge-find-count")).to_have_text("1 of 1, thread")
    expect(panel.get_by_text("Not seen.")).to_be_in_viewport()
    at_work.press("Escape")
    expect(page.get_by_role("searchbox")).to_be_hidden()
    expect(panel).to_be_focused()
    at_work.press("/", "Enter")
    expect(page.get_by_role("searchbox")).to_be_focused()
    at_work.press("Escape", "t")

    expect(panel).to_be_hidden()


def test_in_a_narrow_window_a_match_turns_to_its_pane_and_esc_to_the_item(at_work):
    page = at_work.page
    page.set_viewport_size({"width": 390, "height": 700})
    at_work.press("/")
    page.keyboard.type("It is long")
    expect(page.get_by_text("It is long")).to_be_visible()
    at_work.press("Escape")

    expect(page.get_by_text("It is long")).to_be_hidden()
    expect(page.locator(f"{SHOWN} .judge-passage")).to_be_focused()


def test_the_collection_is_searched_for_the_text_in_a_new_tab(at_work):
    page = at_work.page
    at_work.press("/")
    page.keyboard.type("even numbers")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="In the collection").click()

    expect(opened.value).to_have_url(re.compile(r"/labs/arqmath-x/posts/\?q=even%20numbers$"))


def test_words_of_the_title_and_tags_are_highlighted_on_request_and_it_is_remembered(at_work):
    page = at_work.page
    assert page.evaluate(HIGHLIGHTED, TERMS) == []
    at_work.press("h")
    expect(page.locator(".judge-saved")).to_have_text(
        "Words of the question's title and tags are highlighted."
    )
    assert page.evaluate(HIGHLIGHTED, TERMS) == ["long"] * 80
    at_work.reload()
    at_work.judge(2)
    page.wait_for_function("CSS.highlights.get('judge-terms')?.size === 2")
    assert page.evaluate(HIGHLIGHTED, TERMS) == ["Even", "numbers"]
    at_work.press("?")
    page.get_by_role("checkbox", name="Highlight the words").uncheck()

    assert page.evaluate(HIGHLIGHTED, TERMS) == []


@pytest.mark.parametrize("width", [1440, 390])
def test_the_box_and_the_recent_comments_break_no_rule_of_axe(at_work, width):
    at_work.page.set_viewport_size({"width": width, "height": 800})
    at_work.judge(3, comment="No proof")
    at_work.press("/")
    at_work.page.keyboard.type("even")
    at_work.page.evaluate(AXE)
    assert at_work.page.evaluate(JUDGE, None) == []
    at_work.press("Escape", "c", "ArrowDown")
    expect(at_work.page.get_by_role("button", name="No proof")).to_be_focused()

    assert at_work.page.evaluate(JUDGE, None) == []
