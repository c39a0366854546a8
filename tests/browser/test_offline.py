"""Offline trips: fifty real items are prepared, judged without a network through a restart of the
browser, and sent once; trips are seen by nobody else.
"""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Error, Page, expect

from assessment.models import Judgment, PoolItem
from tests.browser.conftest import enter
from tests.browser.judging import SHOWN, SMALL, TASK1, Assessor
from tests.browser.realitems import real_items
from tests.browser.test_judging import current, started  # noqa: F401  # a fixture
from tests.factories import PASSWORD, Scene, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

STATE = ".judge-trip-state"
MEGABYTE = 2**20
# The bytes of a trip in the browser.
SIZE = """async () => {
  let bytes = 0;
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      bytes += (await (await cache.match(request)).blob()).size;
    }
  }
  return bytes;
}"""


@pytest.fixture
def scene(shared_data: Path, tmp_path: Path, transactional_db: None) -> Scene:
    """The assessor's A.282 with the answers judged for several topics: more than fifty."""
    scene = make_lab()
    topics = ["A.282", *(f"A.2{number:02}" for number in range(1, 7))]
    real_items(scene, shared_data, tmp_path, answers_of=topics)
    return scene


def open_dialog(page: Page) -> None:
    page.keyboard.press("?")
    page.get_by_role("button", name="Judge offline").click()


def prepare(page: Page, text: str) -> None:
    """Prepare items, until the page shows that they are ready."""
    open_dialog(page)
    page.get_by_role("button", name="Prepare for offline").click()
    expect(page.locator(STATE)).to_contain_text(text)
    page.keyboard.press("Escape")


def expect_thread(page: Page) -> None:
    """Open the thread of the item shown; close it again."""
    expect(page.locator(SHOWN)).to_have_count(1)
    page.keyboard.press("t")
    expect(page.locator("#judge-thread .post").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#judge-thread")).to_be_hidden()


def judge_offline(assessor: Assessor, count: int) -> None:
    """Judge items by keys; the last one may have none after it."""
    for number in range(count):
        expect(assessor.page.locator(SHOWN)).to_have_count(1)
        before = assessor.standing
        assessor.said[assessor.active] = (number % 4, "")
        assessor.press(str(number % 4), "Enter")
        assessor.page.wait_for_function(
            "before => !document.querySelector('.judge-item.is-shown .judge-instance')"
            "?.id.endsWith(`-${before}`)",
            arg=before[0],
        )


def test_fifty_items_are_judged_without_a_network_and_saved_once(scene, started):  # noqa: F811
    context: BrowserContext = started(scene.assessor)
    assessor = Assessor(context.pages[0])
    assessor.open(TASK1)
    prepare(assessor.page, "50 items until")
    assert MEGABYTE < assessor.page.evaluate(SIZE) < 4 * MEGABYTE
    first = list(PoolItem.objects.filter(topic__query_id="A.282")[:50].values_list("pk", flat=True))

    context.set_offline(True)
    assessor.page.reload()
    expect_thread(assessor.page)
    judge_offline(assessor, 25)
    expect(assessor.page.locator(".judge-trip")).to_contain_text("25 left")
    context.close()
    context = started(scene.assessor, is_offline=True)
    assessor.page = context.pages[0]
    assessor.page.goto(TASK1)
    judge_offline(assessor, 25)
    expect(assessor.page.locator(".judge-held-up")).to_be_visible()
    assert Judgment.objects.count() == 0
    context.set_offline(False)
    enter(assessor.page, scene.assessor)  # the restart ended the session: sign in again
    assessor.page.evaluate("dispatchEvent(new Event('focus'))")
    assessor.expect_saved()

    assert current() == assessor.said
    assert Judgment.objects.count() == 50
    assert set(PoolItem.objects.exclude(done_at=None).values_list("pk", flat=True)) == set(first)


def trips(page: Page) -> list[str]:
    return list(page.evaluate("caches.keys()"))


def test_a_trip_is_deleted_when_its_user_signs_out_or_another_signs_in(at_work, small):
    page = at_work.page
    prepare(page, "3 items until")
    assert len(trips(page)) == 1
    page.goto("/labs/arqmath-x/judging/")
    assert len(trips(page)) == 1
    page.context.clear_cookies()
    page.goto("/")
    page.wait_for_function("() => caches.keys().then((names) => !names.length)")

    enter(page, small.assessor)
    at_work.open(SMALL)
    prepare(page, "3 items until")
    enter(page, small.organizer)
    page.goto("/labs/arqmath-x/")
    page.wait_for_function("() => caches.keys().then((names) => !names.length)")
    page.context.set_offline(True)
    with pytest.raises(Error, match="net::ERR_"):
        page.goto(SMALL)


def test_a_trip_is_unreadable_to_another_account_that_loaded_no_page(at_work, small):
    """Their sign-in was answered, and the network failed before their first page."""
    page = at_work.page
    prepare(page, "3 items until")
    form = {"login": small.organizer.username, "password": PASSWORD}
    signs_in = """async (form) => {
      const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
      const body = new URLSearchParams({ ...form, csrfmiddlewaretoken: token });
      await fetch("/accounts/logout/", { method: "POST", body: new URLSearchParams({
        csrfmiddlewaretoken: token }), redirect: "manual" });
      await fetch("/accounts/login/", { method: "POST", body, redirect: "manual" });
    }"""
    page.context.set_offline(True)
    page.goto(SMALL)
    expect(page.locator(SHOWN)).to_have_count(1)
    page.context.set_offline(False)
    page.evaluate(signs_in, form)
    page.context.set_offline(True)

    assert len(trips(page)) == 1
    with pytest.raises(Error, match="net::ERR_"):
        page.goto(SMALL)


def test_returned_items_are_gone_from_the_browser_and_free_for_others(at_work):
    page = at_work.page
    prepare(page, "3 items until")
    at_work.judge(3)
    at_work.expect_saved()
    expect(page.locator(".judge-trip")).to_contain_text("2 left")
    open_dialog(page)
    page.get_by_role("button", name="Return items").click()

    expect(page.locator(STATE)).to_contain_text("returned to the topic.")
    assert trips(page) == []
    soon = timezone.now() + timedelta(minutes=31)
    assert not PoolItem.objects.filter(leased_until__gt=soon).exists()


def test_an_interrupted_preparation_keeps_what_is_ready_and_is_completed_later(at_work):
    page = at_work.page
    second = PoolItem.objects.get(item="11", topic__query_id="A.1")
    page.route(f"**/items/{second.pk}/", lambda route: route.abort())
    prepare(page, "The server is not responding.")
    expect(page.locator(".judge-trip")).to_contain_text("interrupted: 1 of 3 items are ready")
    page.unroute_all()
    prepare(page, "3 items until")

    expect(page.locator(".judge-trip")).to_contain_text("3 left")
