"""Take the pictures of the guides and the README from the demo lab: `bin/screenshots` calls this.

The demo lab is built in a temporary folder and served on a free port of this machine, so neither
your labs nor anything else that runs here is touched. Debian's Chromium takes the pictures.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs/pictures"
MANAGE = [sys.executable, str(ROOT / "manage.py")]
CHROMIUM_OPTIONS = ["--disable-background-networking", "--disable-component-update", "--no-sandbox"]
LAB = "/labs/demo/"
TASK = f"{LAB}tasks/task1/"
MAX_BYTES = 600_000


class Picture(NamedTuple):
    """A picture: its name, who is signed in, the page, and what is done there first."""

    name: str
    account: str
    path: str
    height: int = 720
    prepare: Callable[[Page], None] | None = None


def check_a_run(page: Page, run: Path) -> None:
    """Check a run file, and wait for its report."""
    page.locator("input[type=file]").set_input_files(run)
    page.get_by_role("button", name="Check only").click()
    page.get_by_text("is being checked").wait_for()
    page.get_by_text("is being checked").wait_for(state="hidden", timeout=60_000)


def pictures(folder: Path) -> list[Picture]:
    """Return the pictures; `folder` is the data folder of the demo server."""
    broken = folder / "demo/try-broken.tsv"
    return [
        Picture("leaderboard", "", f"{TASK}leaderboard/"),
        Picture("compare", "", f"{TASK}leaderboard/compare/", 900),
        Picture("judging", "assessor", f"{LAB}tasks/task2/judge/B.8/", 640),
        Picture(
            "report",
            "mira",
            f"{LAB}tasks/task1-progress/runs/upload/",
            800,
            partial(check_a_run, run=broken),
        ),
        Picture("lab", "organizer", LAB),
        Picture("pool", "organizer", f"{LAB}tasks/task1-progress/pools/plan/", 800),
        Picture("assignments", "organizer", f"{LAB}tasks/task2/assignments/", 800),
        Picture("qrels", "organizer", f"{TASK}qrels/", 800),
    ]


def main() -> None:
    """Write the pictures."""
    names = ("chromium", "chromium-headless-shell", "chromium-browser")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        sys.exit("Chromium was not found. Install it: apt-get install chromium fonts-liberation")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with demo_server(folder) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS)
            password = (folder / "demo/password").read_text(encoding="utf-8").strip()
            for picture in pictures(folder):
                take(browser, url, picture, password)
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
        [*MANAGE, "serve", "--bind", address],
        env=environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
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


def take(browser: Browser, url: str, picture: Picture, password: str) -> None:
    """Sign in, open the page, prepare it, and store what is visible once it is loaded."""
    page = browser.new_page(viewport=ViewportSize(width=1280, height=picture.height))
    if picture.account:
        page.goto(f"{url}/accounts/login/")
        page.locator("input[name=login]").fill(picture.account)
        page.locator("input[name=password]").fill(password)
        page.locator("input[name=password]").press("Enter")
        page.wait_for_load_state("networkidle")
    page.goto(f"{url}{picture.path}")
    if picture.prepare:
        picture.prepare(page)
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready.then(() => true)")
    taken = Image.open(BytesIO(page.screenshot(animations="disabled")))
    taken.save(PICTURES / f"{picture.name}.webp", quality=80, method=6)
    page.close()


def report_sizes() -> None:
    """Print the size of each picture; exit with an error if they are too large together."""
    sizes = {path: path.stat().st_size for path in sorted(PICTURES.glob("*.webp"))}
    for path, size in sizes.items():
        sys.stdout.write(f"{path.relative_to(ROOT)}: {size:,} bytes\n")
    if sum(sizes.values()) > MAX_BYTES:
        sys.exit(f"Together the pictures exceed {MAX_BYTES:,} bytes. Make the windows smaller.")


if __name__ == "__main__":
    main()
