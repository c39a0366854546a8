"""What the judging page says of itself, and how it stands: status, notices, panes, dialogs, narrow
windows.
"""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Route, expect

from assessment.models import Assignment, Pool, PoolInstance
from tests.browser.conftest import enter
from tests.browser.judging import SHOWN, SMALL, TASK1, TASK2, Assessor
from tests.browser.test_every_page import WATCH

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAVED, NOTICES, LIVE = ".judge-saved", ".judge-notices", ".judge-live"
KEEPS_NOTHING = (
    "delete window.indexedDB; Object.defineProperty(window, 'indexedDB', { value: undefined });"
)


def test_a_browser_that_keeps_nothing_shows_when_all_is_saved_and_asks_before_the_page_is_left(
    page, small
):
    page.add_init_script(KEEPS_NOTHING)
    page.goto("/health/live")
    enter(page, small.assessor)
    assessor = Assessor(page)
    assessor.open(SMALL)
    expect(page.locator(SAVED)).to_contain_text("all saved · this browser cannot store judgments")
    page.context.set_offline(True)
    assessor.judge(3)
    expect(page.locator(SAVED)).to_contain_text(
        "1 judgment is waiting. This browser cannot store judgments"
    )
    with page.expect_event("dialog") as asked:
        page.evaluate("setTimeout(() => location.assign('/health/live'))")
    asked.value.dismiss()

    assert asked.value.type == "beforeunload"
    expect(page.locator(SAVED)).to_contain_text("1 judgment is waiting")


def test_without_an_item_the_reason_has_the_focus(at_work):
    at_work.page.context.set_offline(True)
    at_work.judge(3)
    at_work.judge(1)
    at_work.press("0", "Enter")
    expect(at_work.page.get_by_role("heading", name="Loading the next item")).to_be_focused()
    expect(at_work.page.locator(LIVE)).to_contain_text("You have judged all loaded items")

    Assignment.objects.update(ended_at=timezone.now())
    at_work.page.context.set_offline(False)
    expect(
        at_work.page.get_by_role("heading", name="You can no longer judge this topic")
    ).to_be_visible(timeout=40_000)


@pytest.mark.parametrize("width", [1440, 1024, 1023, 390])
def test_a_notice_never_lies_over_the_labels_and_every_act_has_its_button(at_work, width):
    at_work.page.set_viewport_size({"width": width, "height": 800})
    Pool.objects.update(closed_at=timezone.now())
    at_work.judge(3)
    notice = at_work.page.locator(NOTICES)
    expect(notice).to_be_visible()

    over, bar = notice.bounding_box(), at_work.page.locator(f"{SHOWN} .judge-bars").bounding_box()
    assert over["x"] + over["width"] <= bar["x"] or bar["y"] + bar["height"] <= over["y"]
    at_work.page.get_by_role("button", name="more").click()
    for name in ("judgments", "guidelines", "help", "Submit and next"):
        expect(at_work.page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)


def test_the_list_of_own_judgments_never_shows_the_sign_in_page_nor_an_old_list(at_work):
    at_work.judge(3)
    at_work.expect_saved()
    panel = at_work.page.locator("#judge-judgments")
    at_work.press("j")
    panel.get_by_role("link", name="High").focus()
    at_work.press("Enter")
    expect(panel.locator("[aria-current]")).to_contain_text("High")
    expect(panel.locator("[aria-current]")).to_be_focused()
    at_work.press("Escape")
    expect(panel).to_be_hidden()
    held: list[Route] = []
    at_work.page.route(re.compile("/judgments/"), lambda route: held.append(route))
    at_work.press("j")
    expect(panel).to_be_visible()
    expect(panel).to_contain_text("The list appears when the server responds")
    expect(panel.locator("tbody tr")).to_have_count(0)
    at_work.press("Escape")
    at_work.page.unroute_all()
    at_work.page.context.clear_cookies()
    at_work.press("j")

    expect(panel).to_contain_text("You are signed out")
    expect(panel.locator("form[method=post]")).to_have_count(0)


def test_in_a_narrow_window_the_panes_are_what_the_tabs_lead_to_and_the_question_keeps_its_place(
    real_scene, page
):
    page.goto("/health/live")
    enter(page, real_scene.assessor)
    page.set_viewport_size({"width": 390, "height": 400})
    assessor = Assessor(page)
    assessor.open(TASK1)
    assessor.press("q")
    question = page.get_by_role("tabpanel", name="Question").locator(".judge-scroll")
    question.evaluate("pane => pane.scrollTo(0, 60)")
    assessor.press("q", "q")

    assert question.evaluate("pane => pane.scrollTop") == 60
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_role("tabpanel")).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_moves_when_the_font_of_formulas_comes_late(real_scene, page, width):
    page.add_init_script(WATCH)
    page.goto("/health/live")
    enter(page, real_scene.assessor)
    page.set_viewport_size({"width": width, "height": 900})
    late: list[Route] = []
    page.route("**/*.woff2", lambda route: late.append(route))
    with page.expect_request("**/*.woff2"):
        page.goto(TASK2, wait_until="domcontentloaded")
    expect(page.locator(".judge-question .post")).to_be_hidden()
    for route in late:
        route.continue_()
    expect(page.locator(SHOWN)).to_be_visible()
    page.evaluate("document.fonts.ready")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    assert page.evaluate("window.shift") < 0.001


def test_a_post_that_the_collection_lacks_has_no_link_to_a_thread(page, small):
    PoolInstance.objects.filter(item__topic__query_id="A.1", item__position=1).update(post_id="999")
    page.goto("/health/live")
    enter(page, small.assessor)
    assessor = Assessor(page)
    assessor.open(SMALL)

    assessor.press("t")
    expect(page.locator(SAVED)).to_have_text("This item has no link to a thread.")
