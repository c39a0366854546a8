"""Reports of imports and visual ids as text for the commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from collection.models import Collection, Import, ImportProblem, VisualMap
from collection.selectors.imports import counts_of

SHOWN_PROBLEMS = 20


def import_lines(records: Iterable[Import]) -> Iterator[str]:
    """Yield one line per import with its counts, and the first problems of all imports."""
    records = list(records)
    for record in records:
        counts = ", ".join(
            f"{count:,} {name.replace('_', ' ')}" for name, count in counts_of(record)
        )
        line = (
            f"{record.get_kind_display()} ({record.source}): "
            f"{record.kept:,} of {record.rows:,} rows kept"
        )
        yield f"{line}; {counts}." if counts else f"{line}."
    yield from problem_lines(records)


def problem_lines(records: list[Import]) -> Iterator[str]:
    """Yield the number of problems and the first ones, each with its file and line."""
    if not (count := sum(record.problem_count for record in records)):
        return
    yield f"{count:,} problem{'s' * (count != 1)}:"
    problems = ImportProblem.objects.filter(record__in=records).order_by("record", "pk")
    for problem in problems[:SHOWN_PROBLEMS]:
        place = problem.source if problem.line is None else f"{problem.source}:{problem.line}"
        yield f"  {place}: found {problem.found}; expected {problem.expected}. {problem.todo}"
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
