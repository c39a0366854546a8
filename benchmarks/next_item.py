"""Claim: in the browser, from key press to the next item readable is under 100 ms, p95 over 100
real items.

    python benchmarks/next_item.py [--items 100]

Starts `manage.py serve` on the embedded default in a folder of its own, with real answers of the
field's sample as one topic's pool and real formulas, each in up to five posts, as another's, signs
in with Chromium, and judges by keys. Readable means: the frame that shows the next item was
painted, its text, its typeset formulas and its buttons. Measured in the page, from the time stamp
of the Enter that submits to the frame after it. Between two items the assessor reads for a moment,
so the page can make the next item ready, as it does when somebody judges; beside it the same with
no moment between, so that it cannot. Prints p50, p95 and worst in milliseconds, how many formulas
stood, and the ratio of p95 to 100 ms.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.browser.judging import SHOWN, TASK1, TASK2
from tests.everywhere import free_port, wait_for_port

ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "a quiet blackboard"
LIMIT = 100.0
READING = 400  # ms
DATA = ROOT.parent / "shared" / "data"
SCENE = f"""
import pathlib, tempfile
from tests.browser.realitems import real_items
from tests.factories import make_lab
scene = make_lab()
scene.assessor.username = "judy"
scene.assessor.set_password("{PASSWORD}")
scene.assessor.save()
given = {{f"{{kind}}_of": [f"{{letter}}.{{number}}" for number in range(201, 301)] for kind, letter in (("answers", "A"), ("formulas", "B"))}}
real_items(scene, pathlib.Path("../shared/data"), pathlib.Path(tempfile.mkdtemp()), **given)
"""
# From the stamp of Enter to the frame after the one in which another item stands with a height and
# its formulas.
CLOCK = """
window.times = [];
let pressed = 0, before = null;
const shown = () => document.querySelector(".judge-item.is-shown");
const readable = () => {
  const item = shown();
  if (!item || item === before || item.offsetHeight === 0) return requestAnimationFrame(readable);
  const channel = new MessageChannel();  // answered once the frame is painted
  channel.port1.onmessage = () => window.times.push([performance.now() - pressed, item.querySelectorAll("math").length]);
  requestAnimationFrame(() => channel.port2.postMessage(0));
};
addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  pressed = event.timeStamp;
  before = shown();
  requestAnimationFrame(readable);
}, { capture: true });
"""


def main() -> None:
    """Judge as somebody who reads, then as fast as keys can be pressed, and print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100)
    items = parser.parse_args().items
    if not DATA.is_dir():
        sys.exit(f"The real items are not at {DATA}.")
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(base_url=address, viewport={"width": 1440, "height": 900})
        sign_in(page)
        page.add_init_script(CLOCK)
        tell(f"{items} answers, read", judged(page, TASK1, items, READING), is_claim=True)
        tell(f"{items} formulas, read", judged(page, TASK2, items, READING), is_claim=True)
        tell(f"{items} answers, not read", judged(page, TASK1, items, 0), is_claim=False)
        browser.close()


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a lab with the real items from the folder, and give its address."""
    environment = os.environ | {
        "ARQLAB_DATA": str(folder / "data"),
        "DJANGO_SETTINGS_MODULE": "arqlab.settings",
    }
    for command in (["migrate"], ["shell", "--command", SCENE]):
        subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=environment,
            check=True,
            capture_output=True,
        )
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{port}"],
        cwd=ROOT,
        env=environment,
    )
    try:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def sign_in(page: Page) -> None:
    """Sign in as the assessor."""
    page.goto("/accounts/login/")
    page.locator("#id_login").fill("judy")
    page.locator("#id_password").fill(PASSWORD)
    page.locator("#id_password").press("Enter")
    page.wait_for_url("**/")


def judged(page: Page, path: str, items: int, reading: int) -> list[tuple[float, int]]:
    """Judge items by keys; gives milliseconds and formulas of each next item."""
    page.goto(path)
    page.locator(SHOWN).wait_for()
    page.wait_for_load_state("networkidle")
    for number in range(items):
        for _ in range(page.locator(f"{SHOWN} .judge-instance").count()):
            page.keyboard.press(str(number % 4))
        page.wait_for_timeout(reading)
        page.keyboard.press("Enter")
        while page.evaluate("window.times.length") <= number:
            page.wait_for_timeout(5)
    return [(milliseconds, formulas) for milliseconds, formulas in page.evaluate("window.times")]


def tell(name: str, times: list[tuple[float, int]], *, is_claim: bool) -> None:
    """Print the figures of one way of judging."""
    milliseconds = sorted(time for time, _ in times)
    p95 = milliseconds[min(len(milliseconds) - 1, round(len(milliseconds) * 0.95))]
    formulas = sum(formulas for _, formulas in times)
    ratio = f"  ratio {p95 / LIMIT:.2f} of {LIMIT:.0f} ms" if is_claim else ""
    print(
        f"{name:24} p50 {statistics.median(milliseconds):4.0f} ms  p95 {p95:4.0f} ms  worst {milliseconds[-1]:4.0f} ms  "
        f"{formulas} formulas{ratio}"
    )


if __name__ == "__main__":
    main()
