"""The pages of a collection's imports, in a browser."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.browser.test_every_page import enter
from tests.collection.factories import load_small, make_import
from tests.factories import make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_import_is_followed_to_its_end(
    page: Page, tmp_path: Path, look: Callable[[str], None]
) -> None:
    scene = make_lab()
    small = load_small(scene.lab, tmp_path)
    counts = {
        "formulas": 120_345,
        "outside_the_window": 40_117,
        "on_posts_that_are_not_here": 5_102,
    }
    make_import(
        small, source="Comments.xml", rows=4_612_003, kept=4_566_784, problems=130, counts=counts
    )
    running = make_import(
        small,
        kind="votes",
        source="Votes.xml.gz",
        state="running",
        problems=0,
        updated_at=timezone.now(),
    )
    make_import(
        small,
        kind="badges",
        source="math.stackexchange.com.7z",
        state="stopped",
        rows=90_000,
        problems=0,
    )
    page.goto("/")
    enter(page, scene.organizer)
    page.goto(f"/labs/{scene.lab.slug}/")
    page.get_by_role("link", name="Collection", exact=True).click()
    look("collection")
    page.locator("#imports").get_by_role("link", name="Comments.xml").click()
    look("import-done-with-problems")
    page.go_back()
    page.locator("#imports").get_by_role("link", name="math.stackexchange.com.7z").click()
    look("import-stopped")
    page.go_back()
    page.locator("#imports").get_by_role("link", name="Votes.xml.gz").click()
    look("import-running")

    running.rows, running.updated_at = 450_000, timezone.now()
    running.save()
    expect(page.get_by_text("450,000 rows read and stored so far.")).to_be_visible()
    running.state, running.kept, running.finished_at = "done", 449_000, timezone.now()
    running.save()
    expect(page.get_by_text("No problems.")).to_be_visible()
    expect(page.locator(".page-head .chip")).to_have_text("Done")
    look("import-done")
