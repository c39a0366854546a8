"""Assessors at work: their journeys by keyboard and mouse, with a lost connection, a closed
browser, an ended sign-in and a finished topic. The orders of events are tried in tests/js.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from arqlab.core.models import User
from assessment.models import Judgment, Pool, PoolItem, Ticket
from tests.assessment.factories import assign, judge, make_written_pool
from tests.browser.chromium import CHROMIUM
from tests.browser.judging import SHOWN, SMALL, TASK1, TASK2, Assessor
from tests.browser.test_every_page import JUDGE, WATCH, enter, faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAVED, NOTICES = ".judge-saved", ".judge-notices"
PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture
def started(browser, served, tmp_path: Path) -> Iterator[Callable[..., BrowserContext]]:
    """Start a browser of its own that keeps its profile in a folder; starting it again finds the
    profile as it was.
    """
    running: list[BrowserContext] = []

    def start(person: User, *, is_offline: bool = False) -> BrowserContext:
        context = browser.browser_type.launch_persistent_context(
            str(tmp_path / "profile"), executable_path=CHROMIUM, base_url=served.url
        )
        running.append(context)
        if is_offline:
            context.set_offline(True)
            return context
        context.pages[0].goto("/health/live")
        enter(context.pages[0], person)
        return context

    yield start
    for context in running:
        context.close()


def current() -> dict[int, tuple[int, str]]:
    """Return the labels and comments that count, by instance."""
    return {
        row.instance_id: (row.label, row.comment)
        for row in Judgment.objects.filter(is_current=True)
    }


def go_back_and_change(assessor: Assessor, times: int, reason: str) -> None:
    assessor.press(*"b" * times)
    assessor.change(2 if assessor.said[assessor.active][0] == 3 else 3, reason)


def judge_without_network(assessor: Assessor, context: BrowserContext) -> None:
    """The network is lost for three and comes back."""
    assessor.expect_saved()
    context.set_offline(True)
    for label in (3, 0, 1):
        assessor.judge(label, comment="said without a network")
    expect(assessor.page.locator(SAVED)).to_contain_text(
        "Offline. 3 judgments are waiting in this browser"
    )
    context.set_offline(False)
    assessor.expect_saved()


def close_in_the_middle(assessor: Assessor, context: BrowserContext) -> int:
    """Close the browser with an unsent judgment and a half-typed comment; return the instance
    of the comment.
    """
    context.set_offline(True)
    judged = assessor.active
    assessor.judge(2, comment="said before the browser was closed")
    assessor.press("c")
    assessor.page.keyboard.type("half a com")
    # The browser removes the draft of a label once it has stored the label itself.
    assessor.page.wait_for_function(
        "id => !Object.keys(localStorage).some((name) => name.endsWith(`.${id}`))", arg=judged
    )
    unfinished = assessor.active
    context.close()
    return unfinished


def resume(assessor: Assessor, page: Page, unfinished: int) -> None:
    """The browser is started again, and the comment finished.

    Answers lost with the network may have brought items in another order than a new page does.
    """
    assessor.page = page
    assessor.open(TASK1)
    while assessor.active != unfinished:
        assessor.judge(3)
    expect(page.locator(f"{SHOWN} .judge-comment")).to_have_value("half a com")
    assessor.press("c", "End")
    page.keyboard.type("ment")
    assessor.press("Escape", "1", "Enter")
    assessor.said[unfinished] = (1, "half a comment")


def test_answers_and_formulas_are_judged_by_keyboard_through_losses_of_all_kinds(
    real_scene, started
):
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


def test_the_shown_item_was_laid_out_before_and_nothing_shifts_when_it_comes(real_scene, page):
    page.add_init_script(WATCH.replace("!entry.hadRecentInput", "true"))  # keys excuse no shift
    page.goto("/health/live")
    enter(page, real_scene.assessor)
    assessor = Assessor(page)
    for path in (TASK1, TASK2):
        assessor.open(path)
        for _ in range(4):
            assessor.judge(3)
            page.evaluate(PAINTED)
        assert page.evaluate("window.shift") < 0.001


def test_each_formula_that_was_found_comes_into_view_with_its_own_buttons(real_scene, page):
    page.goto("/health/live")
    enter(page, real_scene.assessor)
    assessor = Assessor(page)
    assessor.open(TASK2)

    for label in ("3", "2", "1"):
        expect(page.locator(f"{SHOWN} .is-active .is-highlighted")).to_be_in_viewport(ratio=1)
        expect(
            page.locator(f"{SHOWN} .is-active").get_by_role("button", name="High")
        ).to_be_in_viewport()
        assessor.press(label)
    assert page.locator(f"{SHOWN} .judge-count").inner_text() == "4 of 4"
    assert page.locator(f"{SHOWN} .judge-place > [aria-hidden]").all_inner_texts() == [
        "3",
        "2",
        "1",
        "·",
    ]


def test_the_question_keeps_its_place_while_the_items_move_on(real_scene, page):
    page.goto("/health/live")
    enter(page, real_scene.assessor)
    page.set_viewport_size({"width": 1024, "height": 320})
    assessor = Assessor(page)
    assessor.open(TASK1)
    question = page.locator(".judge-question .judge-scroll")
    question.evaluate("pane => pane.scrollTo(0, 60)")

    assessor.judge(3)
    assessor.judge(2)

    assert question.evaluate("pane => pane.scrollTop") == 60


def test_enter_pressed_twice_submits_once_and_skips_nothing(at_work):
    first = at_work.active

    at_work.press("3", "Enter", "Enter")

    at_work.expect_saved()
    assert [row.instance_id for row in Judgment.objects.all()] == [first]
    assert at_work.active != first


def test_a_double_click_on_submit_gives_one_label(at_work):
    at_work.press("2")
    at_work.page.get_by_role("button", name="Submit and next").dblclick()

    at_work.expect_saved()
    assert Judgment.objects.count() == 1


def test_the_judged_item_is_marked_and_the_labels_are_in_the_order_of_the_papers(at_work):
    names = at_work.page.locator(f"{SHOWN} .judge-label").all_inner_texts()
    at_work.press("1")

    assert [re.sub(r"\s+", " ", name) for name in names] == [
        "3 High", "2 Medium", "1 Low", "0 Not relevant", "S System failure", "D Do not know",
    ]  # fmt: skip
    expect(at_work.page.get_by_role("button", name="Low", pressed=True)).to_be_visible()


@pytest.mark.parametrize(("key", "label"), [("s", 5), ("d", 6)])
def test_what_cannot_be_judged_asks_why_and_raises_a_ticket_with_what_was_seen(at_work, key, label):
    at_work.press(key)
    at_work.page.keyboard.type("The formula is no formula.")
    at_work.press("Enter")

    at_work.expect_saved()
    ticket = Ticket.objects.get()
    assert (ticket.judgment.label, ticket.judgment.comment) == (label, "The formula is no formula.")
    assert '<div class="post">' in ticket.html
    assert "Chrom" in ticket.browser


def test_a_skipped_item_comes_after_all_others_with_what_was_typed(at_work):
    first = at_work.active
    at_work.press("c")
    at_work.page.keyboard.type("read it again")
    at_work.press("Escape", "l")
    at_work.judge(3)
    at_work.judge(2)

    assert at_work.active == first
    expect(at_work.page.locator(f"{SHOWN} .judge-comment")).to_have_value("read it again")


def test_what_was_chosen_and_typed_survives_a_reload(at_work):
    at_work.press("2", "c")
    at_work.page.keyboard.type("half")
    at_work.press("Shift+Enter")
    at_work.page.keyboard.type("way")
    at_work.reload()

    expect(at_work.page.get_by_role("button", name="Medium", pressed=True)).to_be_visible()
    expect(at_work.page.locator(f"{SHOWN} .judge-comment")).to_have_value("half\nway")


@pytest.mark.smoke
def test_who_is_signed_out_goes_on_and_everything_is_saved_after_signing_in_again(at_work, small):
    context = at_work.page.context
    context.clear_cookies()
    at_work.judge(3)
    at_work.judge(1)
    expect(at_work.page.locator(SAVED)).to_contain_text(
        "You are signed out. 2 judgments are waiting in this browser"
    )
    expect(at_work.page.get_by_role("link", name="Sign in again in another tab")).to_be_visible()
    assert Judgment.objects.count() == 0

    enter(at_work.page, small.assessor)
    context.new_page().goto(SMALL)
    at_work.expect_saved()

    assert current() == at_work.said


def test_what_a_closed_pool_refuses_stays_in_sight_until_it_is_settled(at_work):
    Pool.objects.update(closed_at=timezone.now())
    at_work.judge(3, comment="a long thought")
    notice = at_work.page.locator(NOTICES)
    expect(notice).to_contain_text("was not saved. This pool is closed")
    at_work.page.goto(SMALL)
    expect(notice).to_contain_text("A.1, item 1 was not saved.")

    Pool.objects.update(closed_at=None)
    notice.get_by_role("button", name="Send again").click()

    expect(notice).to_be_hidden()
    at_work.expect_saved()
    assert [row.comment for row in Judgment.objects.all()] == ["a long thought"]


def test_a_label_of_a_second_tab_is_kept_beside_the_first_and_the_assessor_is_notified(at_work):
    other = Assessor(at_work.page.context.new_page())
    other.open(SMALL)
    at_work.judge(3)
    at_work.expect_saved()
    other.judge(0)

    expect(other.page.locator(NOTICES)).to_contain_text(
        "That label counts; yours is kept beside it."
    )
    assert current() == at_work.said
    other.page.get_by_role("button", name="Dismiss").click()
    expect(other.page.locator(NOTICES)).to_be_hidden()


@pytest.mark.smoke
def test_a_finished_topic_shows_what_was_done_and_leads_to_the_next(at_work, small):
    assign(small.assessor, small.task.topics.get(query_id="A.2"))
    at_work.judge(3)
    at_work.judge(0)
    at_work.press("0", "Enter")

    expect(at_work.page.get_by_role("heading", name="A.1 is complete")).to_be_visible()
    expect(at_work.page.get_by_role("row", name="Not relevant")).to_contain_text("2")
    at_work.page.get_by_role("link", name="Judge A.2").click()
    expect(at_work.page.locator(SHOWN)).to_be_visible()


def test_earlier_judgments_are_found_by_label_and_opened_beside_the_question(at_work):
    first = at_work.active
    at_work.judge(3)
    at_work.judge(0)
    at_work.expect_saved()
    at_work.press("j")
    panel = at_work.page.locator("#judge-judgments")
    panel.get_by_role("link", name="High").click()
    expect(panel.locator("tbody tr")).to_have_count(1)
    panel.get_by_label("Search").fill("nothing")
    at_work.press("Enter")
    expect(panel).to_contain_text("No matching judgments")
    panel.get_by_role("link", name="Show all").click()
    panel.get_by_role("link", name="Seconds").click()
    expect(panel.locator("[aria-sort=ascending]")).to_contain_text("Seconds")
    panel.get_by_role("link", name="Answer, position 1").click()

    expect(panel).to_be_hidden()
    assert at_work.active == first
    at_work.change(2, "")
    at_work.expect_saved()
    assert current() == at_work.said


def test_one_key_opens_the_help_and_escape_closes_it(at_work):
    help_dialog = at_work.page.get_by_role("dialog", name="Keyboard shortcuts")
    at_work.press("?", "3", "Enter")
    expect(help_dialog).to_be_hidden()
    at_work.press("?")
    expect(help_dialog).to_be_visible()
    at_work.press("Escape")
    assert Judgment.objects.count() == 0


def test_one_key_opens_the_guidelines_and_typing_finds_parts_of_them(at_work):
    guidelines = at_work.page.get_by_role("dialog", name="Guidelines")
    at_work.press("i", *"professor", "Enter")

    expect(guidelines.get_by_role("status")).to_contain_text("1 of ")
    expect(guidelines.get_by_text("imagine a professor")).to_be_visible()
    expect(guidelines.get_by_role("heading", name="What counts")).to_be_hidden()
    at_work.press("Escape")  # clears the search
    expect(guidelines.get_by_role("heading", name="What counts")).to_be_visible()
    at_work.press("Escape")
    expect(guidelines).to_be_hidden()
    assert Judgment.objects.count() == 0


def test_single_keys_can_be_switched_off(at_work):
    at_work.press("?")
    at_work.page.get_by_role("checkbox", name="Judge with single keys").uncheck()
    at_work.press("Escape", "3")

    expect(at_work.page.get_by_role("button", name="High", pressed=True)).to_have_count(0)


def test_the_divider_is_moved_by_keys_and_keeps_its_place(at_work):
    divider = at_work.page.get_by_role("separator")
    divider.focus()
    at_work.press("ArrowRight", "ArrowRight")
    width = at_work.page.locator(".judge-question").bounding_box()["width"]
    at_work.reload()

    assert divider.get_attribute("aria-valuenow") == "50"
    assert at_work.page.locator(".judge-question").bounding_box()["width"] == width


def test_a_narrow_window_has_a_tab_for_the_question_and_one_for_the_item(at_work):
    at_work.page.set_viewport_size({"width": 720, "height": 450})
    question = at_work.page.locator(".judge-question")
    expect(question).to_be_hidden()
    at_work.press("q")
    expect(question).to_be_visible()
    at_work.page.get_by_role("tab", name="Item").click()

    expect(at_work.page.locator(f"{SHOWN} .judge-heading")).to_be_in_viewport()


def test_a_generated_answer_does_not_reveal_which_system_wrote_it(small, page):
    make_written_pool(small.task, {"A.2": {"GPT3:A.2": "It is $x^2$."}})
    assign(small.assessor, small.task.topics.get(query_id="A.2"))
    page.goto("/health/live")
    enter(page, small.assessor)
    assessor = Assessor(page)
    assessor.open(SMALL.replace("A.1", "A.2"))

    assessor.judge(0)
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()
    assert page.locator(f"{SHOWN} math").count() == 1
    assert "GPT3" not in page.content()
    assessor.press("t")
    expect(page.locator(SAVED)).to_have_text("This item has no link to a thread.")


def test_what_others_judged_is_not_shown(at_work, small):
    item = PoolItem.objects.get(topic__query_id="A.1", position=3)
    judge(small.organizer, item.instances.get(), 2)
    at_work.judge(3)
    at_work.reload()
    at_work.press("b")

    expect(at_work.page.get_by_role("button", name="High", pressed=True)).to_be_visible()
    at_work.press("b")
    expect(at_work.page.locator(SAVED)).to_contain_text("You have no earlier item in this topic.")


@pytest.mark.parametrize("path", [TASK1, TASK2])
def test_the_page_breaks_no_rule_of_axe_in_any_state(real_scene, page, path):
    page.add_init_script(WATCH)
    page.goto("/health/live")
    enter(page, real_scene.assessor)

    assert list(faults(page, path)) == []
    for keys in ("3", "s", "?", "i"):
        page.keyboard.press("Escape")
        page.keyboard.press(keys)
        assert page.evaluate(JUDGE, None) == []
