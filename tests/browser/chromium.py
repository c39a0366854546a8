"""Debian's Chromium."""

import shutil

from playwright.sync_api import Browser, Playwright

# Without windows of its own a browser opens a page in a fifth of the work.
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))),
    None,
)
NO_CHROMIUM = "Chromium was not found. Install it: apt-get install chromium-headless-shell"


def launch(playwright: Playwright) -> Browser:
    """Start Chromium; exit if it is not installed."""
    if CHROMIUM is None:
        raise SystemExit(NO_CHROMIUM)
    return playwright.chromium.launch(
        executable_path=CHROMIUM,
        args=["--disable-background-networking", "--disable-component-update"],
    )
