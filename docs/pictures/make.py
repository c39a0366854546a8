"""Make the pictures of the README from the demo lab: `bin/screenshots` calls this.

The demo lab is built in a temporary folder and served on a free port of this machine, so neither
your labs nor anything else that runs here is touched. Debian's Chromium takes the pictures.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

PICTURES = Path(__file__).resolve().parent
ROOT = PICTURES.parent.parent
MANAGE = [sys.executable, str(ROOT / "manage.py")]
CHROMIUM_OPTIONS = ["--disable-background-networking", "--disable-component-update"]
JUDGING = ViewportSize(width=1280, height=640)
LEADERBOARD = ViewportSize(width=1280, height=720)
MAX_BYTES = 400_000


def main() -> None:
    """Write judging.png and leaderboard.png beside this file."""
    names = ("chromium", "chromium-headless-shell", "chromium-browser")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        sys.exit("Chromium was not found. Install it: apt-get install chromium fonts-liberation")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with demo_server(folder) as url, sync_playwright() as playwright:
            password = (folder / "demo/password").read_text(encoding="utf-8").strip()
            browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS)
            picture_judging(browser, url, password)
            picture_leaderboard(browser, url)
            browser.close()
    report_sizes()


@contextmanager
def demo_server(folder: Path) -> Iterator[str]:
    """Build the demo lab in a folder, serve it, yield its address, and stop the server."""
    ours = ("ARQLAB_", "DATABASE_URL", "REDIS_URL")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    environment["ARQLAB_DATA"] = str(folder)
    for command in (["migrate", "--verbosity", "0"], ["build_demo"]):
        subprocess.run(  # noqa: S603  # our own manage.py
            [*MANAGE, *command], env=environment, check=True, stdout=subprocess.DEVNULL
        )
    address = f"127.0.0.1:{free_port()}"
    with subprocess.Popen(  # noqa: S603  # our own manage.py
        [*MANAGE, "serve", "--bind", address], env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            # The server prints its address once it listens there, and nothing if it cannot start.
            if server.stdout is None or not server.stdout.readline():
                sys.exit("The demo server stopped before it was ready. Its messages are above.")
            yield f"http://{address}"
        finally:
            server.terminate()


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def picture_judging(browser: Browser, url: str, password: str) -> None:
    """Sign in as the assessor and take a picture of a formula to judge."""
    page = browser.new_page(viewport=JUDGING)
    page.goto(f"{url}/accounts/login/")
    page.locator("input[name=login]").fill("assessor")
    page.locator("input[name=password]").fill(password)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_load_state("networkidle")
    page.goto(f"{url}/labs/demo/tasks/task2/judge/B.8/")
    page.locator(".judge-item.is-shown").wait_for()
    take_picture(page, "judging")


def picture_leaderboard(browser: Browser, url: str) -> None:
    """Take a picture of a released leaderboard as a visitor sees it, in a session of its own."""
    page = browser.new_page(viewport=LEADERBOARD)
    page.goto(f"{url}/labs/demo/tasks/task1/leaderboard/")
    page.locator("table").first.wait_for()
    take_picture(page, "leaderboard")


def take_picture(page: Page, name: str) -> None:
    """Store the visible part of the page once its fonts and scripts are loaded."""
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready.then(() => true)")
    page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")


def report_sizes() -> None:
    """Print the size of each picture; exit with an error if they are too large together."""
    sizes = {path: path.stat().st_size for path in sorted(PICTURES.glob("*.png"))}
    for path, size in sizes.items():
        sys.stdout.write(f"{path.relative_to(ROOT)}: {size:,} bytes\n")
    if sum(sizes.values()) > MAX_BYTES:
        sys.exit(f"Together the pictures exceed {MAX_BYTES:,} bytes. Make the windows smaller.")


if __name__ == "__main__":
    main()
