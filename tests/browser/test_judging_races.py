"""What meets on its way: answers that come late, labels that another page sends, an item that is
opened while its label is on its way."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Route, expect

from assessment.models import Assignment, Judgment, Pool, PoolItem
from tests.assessment.factories import assign, judge
from tests.browser.conftest import enter
from tests.browser.judging import SHOWN, SMALL, TASK2, Assessor, wait_until_stored
from tests.browser.test_judging_page import KEEPS_NOTHING

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOME = "/labs/arqmath-x/judging/"
SAVED = ".judge-saved"
# On a busy machine too a request is held, not given up.
PATIENT = "AbortSignal.timeout = () => new AbortController().signal"
REFUSES = """
Object.defineProperty(window, "localStorage", { get() { throw new DOMException("No.", "SecurityError"); } });
"""


def counting() -> dict[int, int]:
    """Return the labels that count, by instance."""
    return {row.instance_id: row.label for row in Judgment.objects.filter(is_current=True)}


def answer_of_now(client: Client, route: Route) -> dict[str, Any]:
    """Return what the server answers to a request at this moment, to be told later."""
    made = client.get(urlsplit(route.request.url)._replace(scheme="", netloc="").geturl())
    connections.close_all()  # what a route's handler asks goes over a connection of its own
    return {"body": made.content, "headers": dict(made.headers)}


def test_an_item_that_was_judged_before_it_came_does_not_stand_again(page, small, client_of):
    page.add_init_script(PATIENT)
    page.goto("/healthz/")
    enter(page, small.assessor)
    assessor, late = Assessor(page), list[tuple[Route, dict[str, Any]]]()

    def hold_the_first(route: Route) -> None:
        if late:
            route.continue_()
        else:
            late.append((route, answer_of_now(client_of(small.assessor), route)))

    page.route("**/judging/next/**", hold_the_first)
    with page.expect_request("**/judging/next/**"):
        page.goto(SMALL)
    for label in "310":
        expect(page.locator(SHOWN)).to_have_count(1)
        assessor.press(label, "Enter")
        assessor.expect_saved()
    [(route, answer)] = late
    route.fulfill(**answer)

    expect(page.get_by_role("heading", name="A.1 is complete")).to_be_visible()


def test_a_label_that_the_page_of_the_own_topics_sent_does_not_let_its_item_stand_again(
    at_work, small, client_of
):
    page, judged = at_work.page, at_work.active
    held: list[Route] = []

    def overtake(route: Route) -> None:
        answer = answer_of_now(client_of(small.assessor), route)
        held.pop().continue_()
        wait_until_stored(page)
        route.fulfill(**answer)

    page.route("**/judging/judgments/", lambda route: route.abort())
    at_work.judge(3)
    expect(page.locator(SAVED)).to_contain_text("1 judgment waits")
    page.route("**/judging/judgments/", lambda route: held.append(route))
    with page.expect_request("**/judging/judgments/"):
        page.goto(HOME)
    page.route(f"**{SMALL}", overtake)
    at_work.open(SMALL)

    assert at_work.active != judged


def test_a_change_counts_also_where_another_tab_sent_the_label_before(at_work):
    page, first = at_work.page, at_work.active
    page.route("**/judging/judgments/", lambda route: route.abort())
    at_work.judge(3)
    home, held = page.context.new_page(), list[Route]()
    home.route("**/judging/judgments/", lambda route: held.append(route))
    with home.expect_request("**/judging/judgments/"):
        home.goto(HOME)
    at_work.press("b")
    at_work.change(1, "I misread it.")
    held[0].continue_()
    expect(home.locator("#waiting")).to_contain_text("is saved")
    page.unroute("**/judging/judgments/")
    page.evaluate("dispatchEvent(new Event('focus'))")
    at_work.expect_saved()

    assert counting() == {first: 1}


def test_a_topic_that_was_taken_away_while_the_server_failed_says_so(at_work, small):
    item = PoolItem.objects.get(instances=at_work.active).pk
    for each in PoolItem.objects.filter(topic__query_id="A.1"):
        judge(small.assessor, each.instances.get(), 3)
    at_work.page.route("**/judging/next/**", lambda route: route.fulfill(status=502))
    at_work.page.goto(f"{SMALL}?item={item}")
    expect(at_work.page.locator(SAVED)).to_contain_text("The server does not answer (502)")
    Assignment.objects.update(ended_at=timezone.now())
    at_work.press("Enter")
    expect(at_work.page.get_by_role("heading", name="Loading the next item")).to_be_visible()
    at_work.page.unroute("**/judging/next/**")

    expect(
        at_work.page.get_by_role("heading", name="You can no longer judge this topic")
    ).to_be_visible(timeout=40_000)


def test_the_list_of_somebody_who_signed_in_since_is_not_shown(at_work, small):
    topic = small.task.topics.get(query_id="A.1")
    judge(small.organizer, PoolItem.objects.get(topic=topic, position=3).instances.get(), 2)
    assign(small.organizer, topic)
    enter(at_work.page, small.organizer)
    at_work.press("j")

    panel = at_work.page.locator("#judge-judgments")
    expect(panel).to_contain_text("You are signed out.")
    expect(panel.locator("tbody tr")).to_have_count(0)


def test_a_double_click_on_a_label_labels_one_instance(real_scene, page):
    page.goto("/healthz/")
    enter(page, real_scene.assessor)
    assessor = Assessor(page)
    assessor.open(TASK2)
    page.locator(f"{SHOWN} .is-active").get_by_role("button", name="High").dblclick()

    assert page.locator(f"{SHOWN} .judge-place > [aria-hidden]").all_inner_texts() == [
        "3",
        "·",
        "·",
        "·",
    ]


def test_a_double_click_on_later_puts_one_item_off(at_work):
    at_work.page.get_by_role("button", name="later").dblclick()
    at_work.expect_saved()

    assert PoolItem.objects.exclude(later_at=None).count() == 1


def test_an_item_that_was_opened_by_its_address_is_left_for_good(at_work):
    first = at_work.active
    at_work.judge(3)
    at_work.expect_saved()
    second = at_work.active
    item = PoolItem.objects.get(instances=first).pk
    at_work.open(f"{SMALL}?item={item}")
    assert at_work.active == first
    at_work.press("Enter")
    at_work.reload()

    assert at_work.active == second


def test_an_item_is_opened_with_the_label_that_was_on_its_way(at_work):
    page, first = at_work.page, at_work.active
    at_work.judge(3)
    at_work.expect_saved()
    held: list[Route] = []
    page.route(
        "**/judging/judgments/",
        lambda route: held.append(route) if route.request.method == "POST" else route.continue_(),
    )
    at_work.press("b")
    at_work.change(1, "")
    with page.expect_request("**/judging/judgments/"):
        page.reload()
    expect(page.locator(SHOWN)).to_have_count(1)
    at_work.press("j")
    page.locator("#judge-judgments").get_by_role("link", name="Answer post").click()
    expect(page.locator(SAVED)).to_have_text("Fetching the item…")
    held[-1].continue_()

    expect(page.locator(f"{SHOWN} #instance-{first}")).to_have_count(1)
    expect(page.get_by_role("button", name="Low", pressed=True)).to_be_visible()


def test_who_judges_in_a_browser_that_refuses_its_storage_loses_nothing(page, small):
    page.goto("/healthz/")
    enter(page, small.assessor)
    page.add_init_script(REFUSES)
    assessor = Assessor(page)
    assessor.open(SMALL)
    first = assessor.active
    assessor.judge(3, comment="kept elsewhere")
    assessor.expect_saved()

    assert counting() == {first: 3}


def test_a_browser_that_keeps_nothing_asks_also_before_a_refused_label_is_left(page, small):
    page.add_init_script(KEEPS_NOTHING)
    page.goto("/healthz/")
    enter(page, small.assessor)
    assessor = Assessor(page)
    assessor.open(SMALL)
    Pool.objects.update(closed_at=timezone.now())
    assessor.judge(3)
    expect(page.locator(SAVED)).to_contain_text("1 not saved")
    leave = "dispatchEvent(new Event('beforeunload', { cancelable: true }))"

    assert page.evaluate(leave) is False
    page.locator(".judge-notices").get_by_role("button", name="Let it go").click()
    expect(page.locator(SAVED)).to_contain_text("all saved")
    assert page.evaluate(leave) is True


def test_who_comes_back_by_the_browsers_history_finds_the_item_that_was_left(at_work):
    judged = at_work.active
    at_work.judge(3)
    left = at_work.active
    at_work.press("c")
    at_work.page.keyboard.type("half")
    at_work.page.goto(HOME)
    at_work.page.go_back()
    expect(at_work.page.locator(SHOWN)).to_have_count(1)

    assert (at_work.active, judged != left) == (left, True)
    expect(at_work.page.locator(f"{SHOWN} .judge-comment")).to_have_value("half")
    at_work.judge(1)
    at_work.expect_saved()
    assert counting() == {judged: 3, left: 1}
