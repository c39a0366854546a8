"""How far a long command is, on one line of the terminal; nothing where the output is a file."""

from __future__ import annotations

import time

from django.core.management.base import OutputWrapper

SECONDS = 0.2


class ProgressLine:
    """A line that is written over and over, at most a few times a second."""

    def __init__(self, out: OutputWrapper, what: str) -> None:
        self._out, self._what = out, what
        self._started = self._shown = time.monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        """Show that `done` rows are done, of `total` where that is known."""
        now = time.monotonic()
        if not self._out.isatty() or now - self._shown < SECONDS:
            return
        self._shown = now
        part = f" of {total:,}" if total else ""
        rate = done / max(now - self._started, 0.001)
        self._out.write(f"\r{self._what}: {done:,}{part} ({rate:,.0f} a second)\x1b[K", ending="")

    def close(self) -> None:
        """Leave an empty line behind."""
        if self._out.isatty():
            self._out.write("\r\x1b[K", ending="")
