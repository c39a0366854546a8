"""What the main pages load: little, compressed, and files that the browser keeps for ever."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import enter
from tests.browser.judging import SMALL, Assessor
from tests.browser.wire import Wire
from tests.factories import Scene

pytestmark = [pytest.mark.browser, pytest.mark.smoke, pytest.mark.django_db(transaction=True)]

SHORT = 100  # bytes that compression would not make fewer


@pytest.fixture
def wire(page: Page, small: Scene) -> Iterator[Wire]:
    page.goto("/health/live")
    enter(page, small.assessor)
    return Wire(page)


def test_judging_takes_15_requests_and_250_kilobytes(page: Page, wire: Wire) -> None:
    Assessor(page).open(SMALL)

    assert wire.requests <= 15
    assert wire.kilobytes <= 250


def test_files_are_compressed_and_kept_and_pages_are_compressed(page: Page, wire: Wire) -> None:
    page.goto(SMALL)
    page.wait_for_load_state("networkidle")

    for answer in wire.answers.values():
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        path = answer["url"].partition("?")[0]
        if "/static/" in path:
            assert headers["cache-control"] == "max-age=315360000, public, immutable", path
        if path.endswith((".js", ".css")) and int(headers["content-length"]) > SHORT:
            assert headers["content-encoding"] == "br", path
        if answer["mimeType"] == "text/html":
            assert headers["content-encoding"] == "gzip", path
