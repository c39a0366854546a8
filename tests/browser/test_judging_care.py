"""What the judging page takes care of: keys that are meant for something else, time, other
machines, tabs and people.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, Route, expect

from assessment.models import Assignment, Judgment, Pool, PoolItem, Ticket
from assessment.tickets.services import answer_ticket
from tests.assessment.factories import assign, judge, make_formula_pool, make_pool
from tests.browser.judging import SHOWN, Assessor
from tests.browser.test_every_page import enter
from tests.collection.factories import load_small
from tests.factories import Scene, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SMALL, FORMULAS = "/labs/arqmath-x/tasks/task1/judge/A.1/", "/labs/arqmath-x/tasks/task1/judge/A.2/"
HOME = "/labs/arqmath-x/judging/"
SAVED, NOTICES, COMMENT = ".judge-saved", ".judge-notices", f"{SHOWN} .is-active .judge-comment"
# A key as the browser tells it, with what Playwright cannot press.
KEY = """(key) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { ...key, bubbles: true, cancelable: true }))"""
# Only one tab of a person sends at a time: here none does until `release` is called.
HOLD = """(name) => void navigator.locks.request(name, () => new Promise((done) => { window.release = done; }))"""
CLOSE = """
const open = indexedDB.open.bind(indexedDB);
indexedDB.open = (...what) => {
  const request = open(...what);
  request.addEventListener("success", () => { window.database = request.result; });
  return request;
};
"""


@pytest.fixture
def small(tmp_path: Path, transactional_db: None) -> Scene:
    """The assessor has A.1 with the answers 10, 11 and 12, and A.2 with a formula that stands in
    two posts.
    """
    scene = make_lab()
    load_small(scene.lab, tmp_path)
    make_pool(scene.task, {"A.1": ["10", "11", "12"]})
    make_formula_pool(scene.task, {"A.2": {"70": [("7", "1"), ("9", "12")]}})
    assign(scene.assessor, *scene.task.topics.filter(query_id__in=["A.1", "A.2"]))
    return scene


@pytest.fixture
def signed_in(page: Page, small: Scene) -> Assessor:
    """The assessor, signed in."""
    page.goto("/healthz/")
    enter(page, small.assessor)
    return Assessor(page)


@pytest.fixture
def at_work(signed_in: Assessor) -> Assessor:
    """The assessor with the first item of A.1 before the eyes."""
    signed_in.open(SMALL)
    return signed_in


def counting() -> dict[int, int]:
    """Return the labels that count, by instance."""
    return {row.instance_id: row.label for row in Judgment.objects.filter(is_current=True)}


def pressed(assessor: Assessor) -> list[str]:
    """Return the labels that are chosen in the active instance."""
    chosen = assessor.page.locator(f"{SHOWN} .is-active .judge-label[aria-pressed=true]")
    return [each.get_attribute("data-label") or "" for each in chosen.all()]


def expect_standing(assessor: Assessor, instance: int) -> None:
    """Wait until an instance's item stands."""
    expect(assessor.page.locator(f"{SHOWN} #instance-{instance}")).to_have_count(1)


def test_nothing_is_judged_as_somebody_else_who_signed_in_meanwhile(at_work, small):
    enter(at_work.page, small.organizer)
    assign(small.organizer, small.task.topics.get(query_id="A.1"))
    at_work.judge(3)
    at_work.judge(1)
    expect(at_work.page.locator(SAVED)).to_contain_text(
        "You are signed out. 2 judgments wait in this browser"
    )
    assert Judgment.objects.count() == 0

    enter(at_work.page, small.assessor)
    at_work.expect_saved()

    assert set(Judgment.objects.values_list("assessor", flat=True)) == {small.assessor.pk}
    assert counting() == {instance: label for instance, (label, _) in at_work.said.items()}


@pytest.mark.parametrize("key", ["c", "s", "d"])
def test_what_is_typed_from_the_question_of_a_narrow_window_is_a_comment(at_work, key):
    at_work.page.set_viewport_size({"width": 720, "height": 450})
    first = at_work.active
    at_work.press("q")
    expect(at_work.page.locator(".judge-question")).to_be_visible()

    at_work.press(key)
    at_work.page.keyboard.type("bad latex 0")

    expect(at_work.page.locator(COMMENT)).to_have_value("bad latex 0")
    assert at_work.active == first


def test_what_is_pressed_or_clicked_while_an_item_is_fetched_reaches_no_item(at_work):
    first = at_work.active
    at_work.judge(3)
    at_work.expect_saved()
    at_work.reload()
    second, held = at_work.active, list[Route]()
    at_work.page.route("**/judging/items/**", lambda route: held.append(route))
    with at_work.page.expect_request("**/judging/items/**"):
        at_work.press("b")

    at_work.press("2", "Enter", "Enter")
    at_work.page.get_by_role("button", name="Low").click()
    expect(at_work.page.locator(SAVED)).to_have_text("Fetching the item…")
    expect(at_work.page.locator("#judge-items")).to_have_attribute("aria-busy", "true")
    assert (at_work.active, pressed(at_work)) == (second, [])
    held[0].continue_()

    expect_standing(at_work, first)
    at_work.press("Enter")
    expect_standing(at_work, second)
    at_work.expect_saved()
    assert counting() == {first: 3}


def test_back_waits_for_a_label_that_the_page_before_left_to_be_sent(at_work):
    first, held = at_work.active, list[Route]()
    at_work.page.route(
        "**/judging/judgments/",
        lambda route: held.append(route) if route.request.method == "POST" else route.continue_(),
    )
    at_work.judge(3)
    with at_work.page.expect_request("**/judging/judgments/"):
        at_work.page.reload()
    expect(at_work.page.locator(SHOWN)).to_have_count(1)

    at_work.press("b")
    expect(at_work.page.locator(SAVED)).to_have_text("Fetching the item…")
    held[-1].continue_()

    expect_standing(at_work, first)
    assert pressed(at_work) == ["3"]


def test_back_asks_the_server_only_past_what_was_judged_on_the_page(at_work):
    first = at_work.active
    at_work.judge(3)
    at_work.expect_saved()
    asked = list[Route]()
    at_work.page.route("**/judging/judgments/", lambda route: asked.append(route))

    at_work.press("b")
    expect_standing(at_work, first)
    assert asked == []

    at_work.page.unroute("**/judging/judgments/")
    at_work.page.context.set_offline(True)
    at_work.press("b")
    expect(at_work.page.locator(".judge-live")).to_contain_text(
        "The server does not answer; what you judged before"
    )


def test_labels_are_sent_where_the_browser_has_no_room_to_keep_them(at_work):
    at_work.expect_saved()
    browser = at_work.page.context.new_cdp_session(at_work.page)
    origin = at_work.page.evaluate("location.origin")
    browser.send("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": 1})

    at_work.judge(3, comment="x" * 5_000)
    at_work.judge(1)
    at_work.expect_saved()

    assert counting() == {instance: label for instance, (label, _) in at_work.said.items()}


def test_labels_are_sent_and_kept_after_the_browser_closed_its_database(page, small):
    page.add_init_script(CLOSE)
    page.goto("/healthz/")
    enter(page, small.assessor)
    assessor = Assessor(page)
    assessor.open(SMALL)
    page.evaluate("window.database.close()")
    assessor.judge(3)
    assessor.expect_saved()
    page.context.set_offline(True)
    assessor.judge(1)
    page.context.set_offline(False)
    page.goto(SMALL)

    assessor.expect_saved()
    assert counting() == {instance: label for instance, (label, _) in assessor.said.items()}


@pytest.mark.parametrize(
    ("key", "code", "chosen"),
    [
        ("End", "Numpad1", []),
        ("3", "Numpad3", ["3"]),
        ('"', "Digit3", ["3"]),
        ("σ", "KeyS", ["5"]),
        ("Ы", "KeyS", ["5"]),
        ("ג", "KeyD", ["6"]),
        ("ي", "KeyD", ["6"]),
        ("Enter", "Enter", []),
    ],
)
def test_keys_mean_what_is_printed_on_them(at_work, key, code, chosen):
    at_work.page.evaluate(KEY, {"key": key, "code": code})

    assert pressed(at_work) == chosen


def test_a_key_that_is_held_down_writes_nothing_into_the_comment(at_work):
    for _ in range(4):
        at_work.page.keyboard.down("c")
    at_work.page.keyboard.up("c")
    at_work.page.keyboard.type("cc")

    expect(at_work.page.locator(COMMENT)).to_have_value("cc")


def test_enter_that_ends_a_composition_submits_nothing(at_work):
    first = at_work.active
    at_work.press("3", "c")
    at_work.page.evaluate(KEY, {"key": "Enter", "code": "Enter", "keyCode": 229})

    assert at_work.active == first


def test_what_was_chosen_before_another_machine_judged_is_offered_and_not_sent(
    at_work, browser: Browser, live_server, small
):
    first = at_work.active
    at_work.press("2", "c")
    at_work.page.keyboard.type("half a thought")
    with browser.new_context(base_url=live_server.url) as context:
        other = Assessor(context.new_page())
        other.page.goto("/healthz/")
        enter(other.page, small.assessor)
        other.open(SMALL)
        other.judge(0, comment="a whole thought")
        other.expect_saved()

    at_work.reload()
    at_work.press("b")
    expect_standing(at_work, first)
    assert pressed(at_work) == ["0"]
    expect(at_work.page.locator(COMMENT)).to_have_value("a whole thought")
    expect(at_work.page.locator(NOTICES)).to_contain_text("“half a thought”")
    at_work.press("Enter")

    expect(at_work.page.locator(f"{SHOWN} #instance-{first}")).to_have_count(0)
    assert Judgment.objects.count() == 1


def test_an_item_that_was_given_back_is_judged_again_with_the_same_label(at_work, small):
    first = at_work.active
    at_work.press("s", "Enter")
    at_work.expect_saved()
    answer_ticket(
        ticket=Ticket.objects.get(),
        answer="Try again.",
        gives_back=True,
        at=timezone.now(),
        by=small.organizer,
    )
    at_work.judge(3)
    at_work.judge(1)

    expect_standing(at_work, first)
    at_work.press("s", "Enter")
    at_work.expect_saved()
    assert counting()[first] == 5


def test_a_second_enter_does_not_submit_the_next_item_that_has_a_label_already(at_work):
    first = at_work.active
    at_work.press("2", "l")
    at_work.judge(3)
    at_work.press("0", "Enter", "Enter")

    expect_standing(at_work, first)
    assert pressed(at_work) == ["2"]
    at_work.expect_saved()
    assert Judgment.objects.count() == 2
    at_work.press("2", "Enter")
    expect(at_work.page.get_by_role("heading", name="A.1 is complete")).to_be_visible()
    assert counting()[first] == 2


def test_a_change_is_submitted_also_when_back_leaves_it(at_work):
    first = at_work.active
    at_work.judge(3)
    second = at_work.active
    at_work.judge(0)
    at_work.press("b")
    expect_standing(at_work, second)
    at_work.press("1", "Escape", "l")
    expect(at_work.page.locator(SAVED)).to_have_text(
        "This item is judged already. Enter submits the change."
    )
    at_work.press("b")

    expect_standing(at_work, first)
    expect(at_work.page.locator(".judge-live")).to_have_text(
        "The change of the item before was submitted."
    )
    at_work.expect_saved()
    assert counting() == {first: 3, second: 1}


def test_the_time_of_each_instance_is_its_own_and_outlives_a_reload(signed_in):
    page = signed_in.page
    page.clock.install()
    signed_in.open(FORMULAS)
    one, other = signed_in.standing
    page.clock.run_for(20_000)
    signed_in.press("3")
    page.clock.run_for(10_000)
    page.get_by_role("button", name="Instance 1").click()
    page.clock.run_for(5_000)
    signed_in.press("2")
    page.clock.run_for(3_000)
    signed_in.press("1")
    signed_in.reload()
    page.clock.run_for(1_000)
    signed_in.press("Enter")
    page.clock.run_for(1_000)
    signed_in.expect_saved()

    seconds = {row.instance_id: row.active_ms // 1000 for row in Judgment.objects.all()}
    # The clock of the page goes on by itself too, while the test does its own work.
    assert seconds[one] in range(26, 31)
    assert seconds[other] in range(13, 18)


def test_a_label_beside_another_is_told_also_after_the_last_item_and_can_be_changed(at_work):
    other = Assessor(at_work.page.context.new_page())
    other.open(SMALL)
    for label in (3, 2, 1):
        at_work.press(str(label), "Enter")
    at_work.expect_saved()
    first = other.active
    other.judge(0)
    expect(other.page.locator(NOTICES)).to_contain_text(
        "That label counts; yours is kept beside it."
    )
    other.press("b")
    expect_standing(other, first)
    other.change(0, "I read it again.")
    other.expect_saved()
    assert counting()[first] == 0
    other.press("0", "Enter")
    other.press("0", "Enter")

    expect(other.page.get_by_role("heading", name="A.1 is complete")).to_be_visible()
    expect(other.page.locator(NOTICES)).to_contain_text("yours is kept beside it.")


def test_what_was_refused_is_settled_by_submitting_its_item_again(at_work):
    Pool.objects.update(closed_at=timezone.now())
    first = at_work.active
    at_work.judge(3, comment="a long thought")
    expect(at_work.page.locator(NOTICES)).to_contain_text("was not saved")
    Pool.objects.update(closed_at=None)
    at_work.reload()
    expect_standing(at_work, first)
    at_work.press("1", "Enter")

    expect(at_work.page.locator(NOTICES)).to_be_hidden()
    at_work.expect_saved()
    assert [(row.label, row.comment) for row in Judgment.objects.all()] == [(1, "a long thought")]


def test_a_label_at_which_the_server_fails_holds_up_no_other(at_work):
    first = at_work.active
    item = PoolItem.objects.get(instances=first).pk

    def fail_at_the_first(route: Route) -> None:
        is_first = route.request.post_data_json["item"] == item
        route.fulfill(status=500, body="Sorry") if is_first else route.continue_()

    at_work.page.route("**/judging/judgments/", fail_at_the_first)
    at_work.judge(3)
    at_work.judge(2)
    expect(at_work.page.locator(SAVED)).to_contain_text(
        "The server does not answer (500). 1 judgment waits"
    )
    at_work.page.unroute("**/judging/judgments/")
    at_work.expect_saved()

    assert counting() == {instance: label for instance, (label, _) in at_work.said.items()}
    assert Judgment.objects.order_by("pk").last().instance_id == first


def test_a_topic_that_is_given_back_is_gone_on_with(at_work):
    Assignment.objects.update(ended_at=timezone.now())
    for label in ("3", "1", "0"):
        at_work.press(label, "Enter")
    expect(
        at_work.page.get_by_role("heading", name="You can no longer judge this topic")
    ).to_be_visible()
    at_work.expect_saved()
    PoolItem.objects.filter(topic__query_id="A.1", position=3).update(done_at=None)
    Judgment.objects.filter(instance__item__position=3).update(is_current=False)
    Assignment.objects.update(ended_at=None)
    # More than once: what the page asked before the topic was given back may still be on its way.
    at_work.page.evaluate("setInterval(() => dispatchEvent(new Event('focus')), 300)")

    expect(at_work.page.locator(SHOWN)).to_be_visible()


def test_an_item_that_another_assessor_took_says_so_and_how_far_the_topic_is(signed_in, small):
    page = signed_in.page
    page.clock.install()
    signed_in.open(SMALL)
    later = timezone.now() + timedelta(minutes=20)
    PoolItem.objects.filter(position=1).update(leased_to=small.organizer, leased_until=later)
    judge(
        small.organizer, PoolItem.objects.get(topic__query_id="A.1", position=3).instances.get(), 2
    )
    page.clock.run_for(11 * 60_000)
    page.evaluate("dispatchEvent(new Event('focus'))")

    expect(page.locator(SAVED)).to_contain_text("Another assessor has this item now.")
    expect(page.locator(".judge-progress")).to_have_text("item 2 of 3")


def test_what_waits_is_sent_from_the_page_of_the_own_topics(at_work):
    at_work.page.route("**/judging/judgments/", lambda route: route.abort())
    at_work.judge(3)
    at_work.judge(2)
    at_work.press("l")
    home = at_work.page.context.new_page()
    at_work.page.close()
    home.route("**/judging/judgments/", lambda route: route.fulfill(status=503))
    home.goto(HOME)
    place = home.locator("#waiting")
    expect(place).to_have_text(
        "2 judgments and 1 item put off of yours in this browser not sent yet. They are sent when the server answers."
    )
    home.unroute("**/judging/judgments/")

    expect(place).to_have_text(
        "What waited in this browser is saved. Load the page anew to see it counted."
    )
    assert counting() == {instance: label for instance, (label, _) in at_work.said.items()}


def test_a_topic_whose_last_labels_another_tab_sent_is_finished(at_work, small):
    context = at_work.page.context
    keeper, home = context.new_page(), context.new_page()
    keeper.goto("/healthz/")
    keeper.evaluate(HOLD, f"arqlab-outbox-{small.assessor.pk}")
    home.goto(HOME)
    keeper.wait_for_function("async () => (await navigator.locks.query()).pending.length > 0")
    for label in ("3", "1", "0"):
        at_work.press(label, "Enter")
    expect(at_work.page.get_by_role("heading", name="Loading the next item")).to_be_visible()
    keeper.evaluate("window.release()")

    expect(at_work.page.get_by_role("heading", name="A.1 is complete")).to_be_visible()
    assert Judgment.objects.count() == 3


def test_a_ticket_has_the_title_the_formula_and_the_text_and_a_label_its_moment(signed_in):
    signed_in.open(FORMULAS)
    with signed_in.page.expect_request("**/judging/judgments/") as sent:
        signed_in.press("s", "Escape", "n", "s", "Enter")
    first, second = sent.value.post_data_json["judgments"]

    assert re.search('(?s)class="post-title".*class="judge-formula".*class="post"', first["shown"])
    assert "post-title" not in second["shown"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", first["at"])


def test_a_page_of_the_network_is_not_taken_for_the_server(at_work):
    at_work.page.route(
        "**/judging/**",
        lambda route: route.fulfill(status=200, body="<p>Wi-Fi</p>", content_type="text/html"),
    )
    at_work.judge(3)

    expect(at_work.page.locator(SAVED)).to_contain_text(
        "Something else answers in the server’s place"
    )
    at_work.page.unroute("**/judging/**")
    at_work.expect_saved()
