"""A browser in which the people of a lab sign in one after the other, for browser tests."""

import re
from collections.abc import Callable
from itertools import count
from pathlib import Path

from playwright.sync_api import Page, expect

from arqlab.core.models import User
from tests.browser.test_first_path import sign_in

PATIENCE = 300
"""How often a page is opened before what it waits for will not come."""


class LabBrowser:
    """A browser, the helper that takes pictures, and the number of the next picture."""

    def __init__(self, page: Page, look: Callable[[str], None]) -> None:
        self.page, self.look, self.number = page, look, count(1)

    def see(self, *texts: str) -> None:
        """Read texts on the page, and look at it in all widths and schemes."""
        for text in texts:
            expect(self.page.get_by_text(text).locator("visible=true").first).to_be_visible()
        self.look(f"year-{next(self.number):02}")

    def press(self, name: str) -> None:
        """Press a button or a link of the page."""
        main = self.page.get_by_role("main")
        main.get_by_role("button", name=name).or_(main.get_by_role("link", name=name)).first.click()

    def tab(self, address: str, name: str) -> None:
        """Open a tab of the lab or the task."""
        self.page.goto(address)
        self.page.locator(".tabs").get_by_role("link", name=name, exact=True).click()

    def tab_with(self, address: str, name: str, text: str) -> None:
        """Open a tab again and again, until it has a text: the schedule makes it."""
        for _ in range(PATIENCE):
            self.tab(address, name)
            self.page.wait_for_load_state()
            if self.page.get_by_text(text).locator("visible=true").count():
                break
        self.see(text)

    def scheduled(self, work: Callable[[], object]) -> None:
        """Do what the schedule of a site does by itself; servers of tests have none."""
        work()

    def fill(self, **fields: str) -> None:
        """Fill in fields, named as their labels are."""
        for label, text in fields.items():
            words = re.compile(rf"^\s*{label.replace('_', ' ')}\s*(\(optional\))?\s*$")
            self.page.get_by_label(words).fill(text)

    def choose_file(self, label: str, name: str, text: str) -> None:
        """Choose a file for a field."""
        file = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        self.page.get_by_label(label, exact=True).set_input_files(file)

    def download(self, name: str) -> str:
        """Download a file of the page and return its text."""
        with self.page.expect_download() as coming:
            self.page.get_by_role("link", name=name, exact=True).click()
        return Path(coming.value.path()).read_text(encoding="utf-8")

    def change_person(self, name: str) -> None:
        """Sign the last person out, and another in."""
        self.sign_out()
        sign_in(self.page, User(username=name))
        expect(self.page.get_by_role("navigation").get_by_text(name)).to_be_visible()

    def sign_out(self) -> None:
        """Sign out, if somebody is signed in."""
        self.page.goto("/")
        menu = self.page.locator(".menu summary")
        if menu.is_visible():
            menu.click()
            self.page.get_by_role("button", name="Sign out").click()
        expect(self.page.get_by_role("link", name="Sign in").first).to_be_visible()
