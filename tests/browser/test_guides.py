"""The guides as a browser shows them under the security policy: axe, both widths, both schemes, the
search, and nothing from another host."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WIDTHS
from tests.browser.test_every_page import AXE, JUDGE
from tests.paths import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SITE = ROOT / "site"


@pytest.fixture(scope="module")
def guides() -> list[str]:
    """Build the guides where the server has them; return the paths of their pages."""
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "DJANGO_SETTINGS_MODULE": "arqlab.settings"},
        check=True,
    )
    # Decisions have one layout: the longest stands for all.
    decisions = sorted(SITE.glob("adr/0*.html"), key=lambda path: path.stat().st_size)
    pages: list[Path] = [*sorted(SITE.glob("*.html")), SITE / "adr/index.html", decisions[-1]]
    return [f"/docs/{path.relative_to(SITE)}" for path in pages]


def test_the_guides_fit_break_no_rule_of_axe_and_ask_only_this_server(page, guides):
    asked, said, found = set(), [], []
    page.on("request", lambda request: asked.add(request.url.split("/")[2]))
    page.on("console", lambda message: said.append(message.text))
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    for path in guides:
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(AXE)
            found += [f"{path} {width}: {one}" for one in page.evaluate(JUDGE, None)]
            if (needed := page.evaluate("document.documentElement.scrollWidth")) > width:
                found.append(f"{path} {width}: {needed} pixels wide")
        # What the scheme changes are colours.
        page.emulate_media(color_scheme="dark")
        found += [f"{path} dark: {one}" for one in page.evaluate(JUDGE, ["color-contrast"])]
        page.emulate_media(color_scheme="light")

    assert (found, said, len(asked)) == ([], [], 1)


def test_the_search_of_the_guides_finds_a_command(page, guides):
    page.goto("/docs/")
    page.keyboard.press("/")
    page.keyboard.type("freeze_qrels")
    page.locator(".md-search-result__link").first.wait_for()
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="freeze_qrels")).to_be_visible()
