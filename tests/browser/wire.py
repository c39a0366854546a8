"""What a page weighs: the requests and the bytes that Chromium gets for it, with an empty cache."""

import re
from typing import Any

from playwright.sync_api import Page

# What a page fetches once it is ready: the next items to judge, and what draws a chart that is near
# the view. Some of it comes before a test looks, some after, and none is part of the page.
AFTERWARDS = re.compile(r"/judging/next/|/js/draw-")


class Wire:
    """The requests of a page, as the browser's network sees them: compressed, with their heads."""

    def __init__(self, page: Page) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self.sizes: dict[str, int] = {}
        self.session = session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        session.on("Network.responseReceived", self._begin)
        session.on("Network.loadingFinished", self._end)

    def _begin(self, event: dict[str, Any]) -> None:
        self.answers[event["requestId"]] = event["response"]

    def _end(self, event: dict[str, Any]) -> None:
        if not AFTERWARDS.search(self.answers.get(event["requestId"], {}).get("url", "")):
            self.sizes[event["requestId"]] = event["encodedDataLength"]

    def close(self) -> None:
        """Weigh nothing more, and let the browser keep files again."""
        self.session.detach()

    def forget(self) -> None:
        """Weigh the next page, not those before it."""
        self.answers.clear()
        self.sizes.clear()

    @property
    def requests(self) -> int:
        """Return the number of requests that were answered."""
        return len(self.sizes)

    @property
    def kilobytes(self) -> float:
        """Return the bytes of all answers, in thousands."""
        return sum(self.sizes.values()) / 1000
