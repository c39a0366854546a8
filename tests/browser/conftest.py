"""A real browser for the tests below: Debian's Chromium, driven by Playwright.

`ARQLAB_SCREENSHOTS=DIR bin/test tests/browser` keeps a picture of each step, in both widths and
both colour schemes.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, expect, sync_playwright
from pytest_django.fixtures import Settings

from arqlab.core.models import User
from tests.assessment.factories import assign, make_pool
from tests.browser.chromium import CHROMIUM, NO_CHROMIUM, launch
from tests.browser.judging import SMALL, Assessor
from tests.browser.realitems import real_items
from tests.collection.factories import load_small
from tests.factories import Scene, make_lab
from tests.served import Server, running_server

collect_ignore = ["test_judging_search.py"] if "retrieval" in settings.WITHOUT else []
WIDTHS = (1440, 390)
SCHEMES = ("light", "dark")
PATIENCE = 60_000
"""The milliseconds after which something that is waited for will not come, however busy the machine
is.
"""
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session", autouse=True)
def _database_calls_beside_playwrights_loop() -> Iterator[None]:
    # Playwright's synchronous interface runs an event loop in this thread; Django would refuse
    # queries beside it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    yield
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """ArqLab's server as a process of its own, one for all browser tests of a worker."""
    with running_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(autouse=True)
def served(transactional_db: None, server: Server, settings: Settings) -> Iterator[Server]:
    """The server, whose files the test shares, until it has answered everything: what a closed
    browser had asked for is still worked at, and would meet the tables of the next test."""
    settings.MEDIA_ROOT = server.folder / "files"
    settings.STORAGES = settings.STORAGES | {
        "default": {"BACKEND": "arqlab.core.files.DurableStorage"}
    }
    server.go_on()
    said = server.log.stat().st_size
    yield server
    server.pause()
    sys.stderr.write(server.log.read_bytes()[said:].decode())


@pytest.fixture
def page(browser: Browser, served) -> Iterator[Page]:
    """A page on the live server. It fails the test when a script throws or the policy blocks
    something.
    """
    context = browser.new_context(
        base_url=served.url, viewport={"width": 1440, "height": 900}, ignore_https_errors=True
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    page.on(
        "request",
        lambda request: (
            complaints.append(request.url) if elsewhere(request.url, served.url) else None
        ),
    )
    yield page
    context.close()
    # A failure that a test asks for is told by the browser and by htmx too, and is no complaint.
    asked_for = ("Failed to load resource", "Response Status Error Code", "htmx:")
    assert [text for text in complaints if not any(each in text for each in asked_for)] == []


def elsewhere(url: str, home: str) -> bool:
    """Return whether a request left our own host."""
    return not url.startswith((home, "data:", "blob:"))


def enter(page: Page, person: User) -> None:
    """Sign a person in without the form."""
    client = Client()
    client.force_login(person)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    url = page.context.pages[0].evaluate("location.origin")
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": url}])


@pytest.fixture
def look(page: Page) -> Callable[[str], None]:
    """Look at the page in both widths and both schemes: nothing overflows; a picture is kept where
    one is asked for.
    """
    folder = os.environ.get("ARQLAB_SCREENSHOTS")

    def look_at(name: str) -> None:
        for width in WIDTHS:
            for scheme in SCHEMES:
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=scheme)
                # The new width is laid out with the next frames, not with the answer to the call
                # above.
                page.evaluate(
                    "new Promise((done) =>"
                    " requestAnimationFrame(() => requestAnimationFrame(done)))"
                )
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (
                    f"{name} overflows at {width}"
                )
                if folder:
                    Path(folder).mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=f"{folder}/{name}-{width}-{scheme}.png", full_page=True)
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        page.emulate_media(color_scheme="light")

    return look_at


@pytest.fixture
def real_scene(shared_data: Path, tmp_path: Path, transactional_db: None) -> Scene:
    scene = make_lab()
    real_items(scene, shared_data, tmp_path)
    return scene


@pytest.fixture
def small(tmp_path: Path, transactional_db: None) -> Scene:
    """The assessor has A.1 with the answers 10, 11 and 12."""
    scene = make_lab()
    load_small(scene.lab, tmp_path)
    make_pool(scene.task)
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    return scene


@pytest.fixture
def at_work(page: Page, small: Scene) -> Assessor:
    """The assessor, signed in, with the first item of A.1 before the eyes."""
    page.goto("/health/live")
    enter(page, small.assessor)
    assessor = Assessor(page)
    assessor.open(SMALL)
    return assessor
