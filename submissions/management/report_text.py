"""The report of a run as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

SHOWN_CHARACTERS = 60


def report_text(name: str, report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a report from `submissions.selectors.report_data`."""
    facts = []
    if report.get("format_name"):
        facts = [report["format_name"], f"{report['rows']:,} rows", f"{report['topics']:,} topics"]
    state = "valid" if report["valid"] else "has errors"
    yield f"{name}: {', '.join([state, *facts])}."
    if report.get("run_tags"):
        yield f"  run tag in the file: {', '.join(report['run_tags'][:5])}"
    for problem in report["problems"]:
        yield from _problem_text(problem)
    if not report["problems"]:
        yield "  No problems found."


def _problem_text(problem: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"  {problem['severity'].upper()} {problem['kind']} ({problem['count']:,})"
    yield f"    {problem['message']}"
    yield f"    {problem['todo']}"
    for place in problem["first"]:
        where = "whole file" if place["line"] is None else f"line {place['line']}"
        topic = f", {place['topic']}" if place["topic"] else ""
        found, expected = _short(place["found"]), _short(place["expected"])
        yield f"      {where}{topic}: {found} (expected: {expected})"
    if problem["count"] > len(problem["first"]) > 0:
        yield f"      and {problem['count'] - len(problem['first']):,} more"


def _short(text: str | None) -> str:
    shown = (text or "").replace("\n", " ")
    return shown if len(shown) <= SHOWN_CHARACTERS else shown[:SHOWN_CHARACTERS] + "…"
