"""Imports and visual ids as lines of text, for the commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from collection.models import Collection, Import, ImportProblem, VisualMap
from collection.selectors.imports import counts_of

SHOWN_PROBLEMS = 20


def import_lines(records: Iterable[Import]) -> Iterator[str]:
    """Return what was read of each file, and the first problems of all."""
    records = list(records)
    for record in records:
        counts = ", ".join(
            f"{count:,} {name.replace('_', ' ')}" for name, count in counts_of(record)
        )
        read = f"{record.get_kind_display()} ({record.source}): {record.kept:,} of {record.rows:,} rows kept"
        yield f"{read}; {counts}." if counts else f"{read}."
    yield from problem_lines(records)


def problem_lines(records: list[Import]) -> Iterator[str]:
    """Return the first problems by file and line, and where the others stand."""
    if not (count := sum(record.problem_count for record in records)):
        return
    yield f"{count:,} problem{'s' * (count != 1)}:"
    problems = ImportProblem.objects.filter(record__in=records).order_by("record", "pk")
    for problem in problems[:SHOWN_PROBLEMS]:
        place = problem.source if problem.line is None else f"{problem.source}:{problem.line}"
        yield f"  {place}: found {problem.found}; expected {problem.expected}. {problem.todo}"
    if count > SHOWN_PROBLEMS:
        yield f"  {count - SHOWN_PROBLEMS:,} more stand on the collection's page of this import."


def map_line(version: VisualMap | None, collection: Collection) -> str:
    """Return the version of the visual ids and its counts in one sentence."""
    if version is None:
        return f"{collection.slug} has no formulas, so there are no visual ids."
    counts = version.counts
    line = f"Visual ids, version {version.version}: {counts['formulas']:,} formulas in {counts['instances']:,} instances"
    changed = [
        f"{counts[name]:,} {name}"
        for name in ("merges", "splits", "would merge", "would split")
        if counts[name]
    ]
    return f"{line}; {', '.join(changed)}." if changed else f"{line}."
