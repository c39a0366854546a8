"""Claim: the main pages are painted within one second by a processor four times slower than this
one, with an empty cache, and load at most 250 kB in 15 requests.

`manage.py serve` runs on SQLite with the demo lab. Chromium slows its own work down (the protocol's
`setCPUThrottlingRate`), not the server's, which runs beside it, and there is no network between
them. The paint is the first that shows something (first-contentful-paint), counted from the start
of the navigation. Bytes are those of the network, compressed and with their heads. The goals are
absolute.
"""

import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.common import (
    PASSWORD,
    Benchmark,
    environment,
    in_process,
    page_of,
    set_up_django,
    start,
)
from tests.browser.wire import Wire

SLOWER = 4
MOST_MILLISECONDS, MOST_KILOBYTES, MOST_REQUESTS = 1000, 250, 15
TASK = "/labs/demo/tasks/task1"
PAGES = {
    "organizer": {
        "home": "/",
        "leaderboard": f"{TASK}/leaderboard/",
        "run report": f"{TASK}/runs/1/",
        "pools": f"{TASK}/pools/",
        "search": "/labs/demo/posts/",
    },
    "assessor": {"judging": f"{TASK}/judge/A.1/"},
}
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main(bench: Benchmark) -> None:
    """Open each page some times, signed in as who works with it."""
    with tempfile.TemporaryDirectory() as folder:
        variables = environment(Path(folder, "data"))
        in_process(make_demo, variables, folder=folder)
        for person, pages in PAGES.items():
            with page_of(person, variables) as page:
                wire = Wire(page)
                session = page.context.new_cdp_session(page)
                session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
                for name, path in pages.items():
                    report(
                        bench, name, [opened(page, wire, path) for _ in range(bench.sized(7, 1))]
                    )


def make_demo(folder: str) -> None:
    """Build the demo lab."""
    set_up_django()
    from django.utils import timezone

    from desk.services.demo import build_demo

    build_demo(folder=Path(folder), password=PASSWORD, at=timezone.now())


def opened(page: Page, wire: Wire, path: str) -> tuple[float, float, int]:
    """Open a page; return the milliseconds to its first paint, its kilobytes and its requests."""
    wire.forget()
    page.goto(path)
    page.wait_for_load_state("networkidle")
    return float(page.evaluate(PAINT)), wire.kilobytes, wire.requests


def report(bench: Benchmark, name: str, found: list[tuple[float, float, int]]) -> None:
    """Compare the figures of a page with their limits."""
    paints, kilobytes, requests = zip(*found, strict=True)
    bench.limit(f"{name}, first paint", statistics.median(paints), MOST_MILLISECONDS, "ms")
    bench.limit(f"{name}, bytes", max(kilobytes), MOST_KILOBYTES, "kB")
    bench.limit(f"{name}, number", max(requests), MOST_REQUESTS, "requests")


if __name__ == "__main__":
    start(main, rounds=1, sides=(make_demo,))
