"""What the judging page takes care of in a real browser: keys and clicks meant for something else,
its storage, its history, other tabs and other users.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection
from playwright.sync_api import Page, expect

from assessment.models import PoolItem
from tests.assessment.factories import assign, judge, make_formula_pool, make_pool
from tests.browser.judging import SHOWN, TASK2, Assessor, counting
from tests.browser.test_every_page import enter
from tests.collection.factories import load_small
from tests.factories import Scene, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SMALL, FORMULAS = "/labs/arqmath-x/tasks/task1/judge/A.1/", "/labs/arqmath-x/tasks/task1/judge/A.2/"
HOME = "/labs/arqmath-x/judging/"
SAVED, NOTICES, COMMENT = (
    ".judge-saved",
    ".judge-notices",
    f"{SHOWN} .judge-instance.is-active .judge-comment",
)
CLOSE = """
const open = indexedDB.open.bind(indexedDB);
indexedDB.open = (...what) => {
  const request = open(...what);
  request.addEventListener("success", () => { window.database = request.result; });
  return request;
};
"""


WORKED = """(minutes) => {
  const now = Date.now();
  const stretch = { since: now - minutes * 60_000, last: now, reminded: 0 };
  localStorage.setItem("arqlab.judge.stretch", JSON.stringify(stretch));
}"""


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
    page.goto("/health/live")
    enter(page, small.assessor)
    return Assessor(page)


@pytest.fixture
def at_work(signed_in: Assessor) -> Assessor:
    """The assessor with the first item of A.1 before the eyes."""
    signed_in.open(SMALL)
    return signed_in


def test_a_suggested_break_takes_no_key_and_no_focus_and_can_be_switched_off(signed_in):
    page, notice = signed_in.page, signed_in.page.locator(".judge-break-notice")
    page.evaluate(WORKED, 51)
    signed_in.open(SMALL)
    expect(notice).to_contain_text("You have judged for 51 minutes without a pause.")
    signed_in.judge(3)
    expect(notice).to_be_visible()
    notice.get_by_role("button").click()
    expect(notice).to_be_hidden()
    signed_in.judge(2)
    signed_in.press("?")
    page.locator("#judge-break-minutes").select_option("never")
    page.evaluate(WORKED, 120)
    signed_in.reload()

    expect(notice).to_be_hidden()
    expect(page.locator("#judge-break-minutes")).to_have_value("0")


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


def test_labels_are_sent_and_kept_after_the_browser_closed_its_database(page, small):
    page.add_init_script(CLOSE)
    page.goto("/health/live")
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


def test_a_key_that_is_held_down_writes_nothing_into_the_comment(at_work):
    for _ in range(4):
        at_work.page.keyboard.down("c")
    at_work.page.keyboard.up("c")
    at_work.page.keyboard.type("cc")

    expect(at_work.page.locator(COMMENT)).to_have_value("cc")


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
        "2 judgments and 1 skipped item in this browser have not been sent yet."
        " They will be sent when the server responds."
    )
    home.unroute("**/judging/judgments/")

    expect(place).to_have_text("Everything is saved. Reload to update the numbers.")
    assert counting() == {instance: label for instance, (label, _) in at_work.said.items()}


@pytest.mark.skipif(connection.vendor == "sqlite", reason="A file does not end its connections.")
def test_labels_given_while_there_is_no_database_arrive_afterwards(at_work):
    with no_database():
        at_work.judge(3)
        at_work.judge(2)
        expect(at_work.page.locator(SAVED)).to_contain_text(
            "The server is not responding (503). 2 judgments are waiting in this browser"
        )
        assert counting() == {}

    at_work.expect_saved()
    assert counting() == {instance: label for instance, (label, _) in at_work.said.items()}


@contextmanager
def no_database() -> Iterator[None]:
    """End the server's connections to the database and refuse new ones; those of the test stay."""
    database = connection.settings_dict["NAME"]
    change = f"ALTER DATABASE {connection.ops.quote_name(database)} ALLOW_CONNECTIONS"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [own] = cursor.fetchone()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"{change} false")
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = %s AND pid <> %s",
            [database, own],
        )
        try:
            yield
        finally:
            cursor.execute(f"{change} true")


def test_a_ticket_has_the_title_the_formula_and_the_text_and_a_label_its_moment(signed_in):
    signed_in.open(FORMULAS)
    with signed_in.page.expect_request("**/judging/judgments/") as sent:
        signed_in.press("s", "Escape", "n", "s", "Enter")
    first, second = sent.value.post_data_json["judgments"]

    assert re.search('(?s)class="post-title".*class="judge-formula".*class="post"', first["shown"])
    assert "post-title" not in second["shown"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", first["at"])


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
    page.goto("/health/live")
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
    at_work.page.get_by_role("button", name="skip").dblclick()
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
