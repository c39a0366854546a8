"""Arguments, progress and reports of the collection's commands."""

from __future__ import annotations

import time
from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path

from django.core.management.base import OutputWrapper

from arqkit.formats.labs.tables import slug_text
from arqlab.core.models import JobProblem
from collection.models import Collection, Import, VisualMap
from collection.selectors.imports import counts_of

SECONDS = 0.2
"""The interval between two updates of the bar."""
PLAIN_SECONDS = 10
"""The interval between two plain lines."""
WIDTH = 20

SHOWN_PROBLEMS = 20


class ProgressLine:
    """A progress callback for a terminal or log; with a `path`, it shows the megabytes read."""

    def __init__(
        self, out: OutputWrapper, what: str, *, is_quiet: bool = False, path: Path | None = None
    ) -> None:
        self._out, self._what, self._is_quiet = out, what, is_quiet
        self._size = path.stat().st_size if path else 0
        self._is_terminal = bool(out.isatty())
        self._started = self._shown = time.monotonic()
        self._first: tuple[int, float] | None = None

    def __call__(self, done: int, total: int | None) -> None:
        """Show that `done` rows are done, of `total` if that is known."""
        now = time.monotonic()
        # The rate counts from the first call, so that rows of an earlier run do not raise it, and
        # again from a lower number: another file, or a step that starts over.
        if self._first is None or done < self._first[0]:
            self._first = done, now
        if self._is_quiet or now - self._shown < (SECONDS if self._is_terminal else PLAIN_SECONDS):
            return
        self._shown = now
        text = f"{self._what}: {', '.join(self._parts(done, total, now))}"
        self._out.write(f"\r{text}\x1b[K" if self._is_terminal else f"{text}\n", ending="")

    def _parts(self, done: int, total: int | None, now: float) -> Iterator[str]:
        first, began = self._first or (0, self._started)
        rate = (done - first) / max(now - began, 0.001)
        if total:
            share = min(1.0, done / total)
            bar = f"[{'#' * round(WIDTH * share):.<{WIDTH}}] " if self._is_terminal else ""
            yield f"{bar}{share:.0%}"
            yield (
                f"{share * self._size / 1e6:,.0f} of {self._size / 1e6:,.0f} MB"
                if self._size
                else f"of {total:,}"
            )
        yield f"{done:,} rows"
        if rate:
            yield f"{rate:,.0f} per second"
        if rate and total:
            # The total is an estimate until everything is read.
            yield f"{timedelta(seconds=round(max(0, total - done) / rate))} left"

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the bar."""
        if self._is_terminal and not self._is_quiet:
            self._out.write("\r\x1b[K", ending="")


def import_lines(records: Iterable[Import]) -> Iterator[str]:
    """Yield one line per import with its counts, and the first problems of all imports."""
    records = list(records)
    for record in records:
        counts = ", ".join(
            f"{count:,} {name.replace('_', ' ')}" for name, count in counts_of(record)
        )
        line = f"{record.label} ({record.source}): {record.kept:,} of {record.rows:,} rows kept"
        yield f"{line}; {counts}." if counts else f"{line}."
    yield from problem_lines(records)


def problem_lines(records: list[Import]) -> Iterator[str]:
    """Yield the number of problems and the first ones, each with its file and line."""
    if not (count := sum(record.problem_count for record in records)):
        return
    yield f"{count:,} problem{'s' * (count != 1)}:"
    for problem in JobProblem.objects.filter(job__in=records)[:SHOWN_PROBLEMS]:
        yield f"  {problem}"
    if count > SHOWN_PROBLEMS:
        yield f"  {count - SHOWN_PROBLEMS:,} more are listed on the import's page."


def map_line(version: VisualMap | None, collection: Collection) -> str:
    """Return the version of the visual ids and its counts as one line."""
    if version is None:
        return f"{collection.slug} has no formulas, so it has no visual ids."
    counts = version.counts
    line = (
        f"Visual ids, version {version.version}: "
        f"{counts['formulas']:,} formulas in {counts['instances']:,} instances"
    )
    changed = [
        f"{counts[name]:,} {name}"
        for name in ("merges", "splits", "would merge", "would split")
        if counts[name]
    ]
    return f"{line}; {', '.join(changed)}." if changed else f"{line}."


def collection_slug(text: str) -> str:
    """Return the slug of a collection, or raise `ArgumentTypeError` if the text is not a slug."""
    try:
        return slug_text(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text[:80]!r} is not a slug. Use {error}.") from error
