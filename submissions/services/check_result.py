"""The result of a check as it is stored with the run: facts, problems and every occurrence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from arqkit.formats.runs.report import ProblemGroup, RunReport
from arqkit.records import Problem, Severity
from submissions.models import RunProblem

FIRST_LINES = 10
SHOWN_TAGS = 20  # a broken file may have a new tag on every line
# A value may be a line of several megabytes. Pages show less of it than the download.
SHOWN_CHARACTERS = 200
KEPT_CHARACTERS = 1000
OCCURRENCES = {
    "kind": pl.String,
    "severity": pl.String,
    "line": pl.Int64,
    "topic": pl.String,
    "found": pl.String,
    "expected": pl.String,
}


@dataclass(frozen=True)
class CheckResult:
    """The result of a check. `index` is None for an invalid run; the run's page shows `facts`.

    `sha256` is that of the unpacked run file, or empty if it could not be unpacked.
    """

    facts: dict[str, Any]
    problems: list[RunProblem]
    occurrences: pl.DataFrame
    index: pl.DataFrame | None = None
    is_valid: bool = False
    sha256: str = ""


def check_result_of(report: RunReport) -> CheckResult:
    """Return the result to store for a report of `arqkit.formats.runs.check`."""
    facts = {
        "format": report.format,
        "format_name": report.format_name,
        "items": report.items.value,
        "lines": report.lines,
        "rows": report.rows,
        "topics": report.topics,
        "run_tags": list(report.run_tags[:SHOWN_TAGS]),
    }
    columns = [
        group.occurrences.select(
            pl.lit(group.kind).alias("kind"),
            pl.lit(group.severity.value).alias("severity"),
            "line",
            "topic",
            pl.col("found", "expected").str.slice(0, KEPT_CHARACTERS),
        )
        for group in report.problems
    ]
    return CheckResult(
        facts=facts,
        problems=[problem_row(group, position) for position, group in enumerate(report.problems)],
        occurrences=pl.concat([pl.DataFrame(schema=OCCURRENCES), *columns], how="vertical"),
        index=report.index,
        is_valid=report.is_valid and report.index is not None,
    )


def problem_row(group: ProblemGroup, position: int) -> RunProblem:
    """Return one kind of problem as an unsaved row, not yet assigned to a run."""
    first = group.occurrences.head(FIRST_LINES).with_columns(
        pl.col("found", "expected").str.slice(0, SHOWN_CHARACTERS)
    )
    return RunProblem(
        position=position,
        kind=group.kind,
        severity=group.severity.value,
        count=group.count,
        message=group.message,
        todo=group.todo,
        is_repairable=group.repairable,
        first=first.select("line", "topic", "found", "expected").to_dicts(),
    )


def unreadable_upload_result(problems: Iterable[Problem]) -> CheckResult:
    """Return the result to store for an upload that cannot be unpacked."""
    rows, columns = [], []
    for position, problem in enumerate(problems):
        message = f"Found {problem.found}; expected {problem.expected}."
        occurrence = {
            "line": problem.line,
            "topic": None,
            "found": problem.found,
            "expected": problem.expected,
        }
        kind = "unreadable-file" if position == 0 else f"unreadable-file-{position + 1}"
        rows.append(
            RunProblem(
                position=position,
                kind=kind,
                severity=Severity.ERROR.value,
                count=1,
                message=message,
                todo=problem.todo,
                first=[occurrence],
            )
        )
        columns.append({"kind": kind, "severity": Severity.ERROR.value, **occurrence})
    return CheckResult(
        facts={}, problems=rows, occurrences=pl.DataFrame(columns, schema=OCCURRENCES)
    )


def failed_check_result(attempts: int) -> CheckResult:
    """Return the result to store for a run whose check failed, through no fault of the team."""
    problem = RunProblem(
        position=0,
        kind="check-failed",
        severity=Severity.ERROR.value,
        count=1,
        message=f"Validation failed {attempts} times because of an error in ArqLab. The run "
        "may or may not have problems.",
        todo="You do not need to do anything. The file is stored and the error was logged.",
        first=[],
    )
    return CheckResult(facts={}, problems=[problem], occurrences=pl.DataFrame(schema=OCCURRENCES))
