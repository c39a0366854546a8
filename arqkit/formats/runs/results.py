"""The result of checking a run file for people: facts, problems, and the diff of a repair."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby
from typing import Any, BinaryIO, NamedTuple

import polars as pl

from arqkit.formats.archives.uploads import UploadRefusedError
from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.packs import TaskPack
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import OCCURRENCE, ProblemGroup, RunReport, RunRules
from arqkit.polars_errors import panics_as_errors
from arqkit.records import ItemKind, Problem, Severity
from arqkit.topics import visible

CONTEXT = 3  # unchanged lines shown around a change
SLACK = 50  # how many lines later than expected a line may still be found in the repaired file


class _Change(NamedTuple):
    """Lines `begin` to `end` became lines `new_begin` to `new_end` (from 0, ends excluded)."""

    begin: int
    end: int
    new_begin: int
    new_end: int


def repair_diff(before: bytes, after: bytes, *, most: int = 200) -> str:
    """Return the unified diff from a run file to its repaired form.

    It has at most `most` lines of changes and context; a last line counts the changed lines that
    are not shown. A byte order mark that the repair removed is shown as ⟨BOM⟩, a carriage return as
    ␍. The time is linear in the file, because a repair never moves a line.
    """
    if b"\r" in after:  # the repair kept them, so they are not a change
        before, after = before.replace(b"\r\n", b"\n"), after.replace(b"\r\n", b"\n")
    old, new = _lines(before), _lines(after)
    changes = list(_changes(old, new))
    if not changes:
        return ""
    diff = ["--- as sent", "+++ repaired"]
    room, left_out = most, 0
    for hunk in _hunks(changes):
        lines = _hunk_lines(old, new, hunk, room)
        changed = sum(
            change.end - change.begin + change.new_end - change.new_begin for change in hunk
        )
        left_out += changed - sum(line[0] in "+-" for line in lines)
        if lines:
            diff += [_hunk_head(lines, hunk), *lines]
        room -= len(lines)
    if left_out:
        diff.append(
            f"… and {left_out:,} more changed {'line is' if left_out == 1 else 'lines are'} "
            "not shown here."
        )
    return "\n".join(diff) + "\n"


def _lines(data: bytes) -> list[str]:
    lines = data.decode(errors="replace").split("\n")
    return lines if lines[-1] else lines[:-1]


def _changes(old: list[str], new: list[str]) -> Iterator[_Change]:
    """Yield the changes: each old line is looked up among the remaining new lines, but in its own
    place if no line was omitted.
    """
    if len(old) == len(new):
        for is_same, places in groupby(range(len(old)), lambda at: old[at] == new[at]):
            if not is_same:
                run = list(places)
                yield _Change(run[0], run[-1] + 1, run[0], run[-1] + 1)
        return
    places: dict[str, list[int]] = defaultdict(list)
    for index in range(len(new) - 1, -1, -1):
        places[new[index]].append(index)
    begin = new_begin = 0
    for index, line in enumerate(old):
        left = places.get(line, [])
        while left and left[-1] < new_begin:
            left.pop()
        if left and left[-1] - new_begin <= index - begin + SLACK:
            place = left.pop()
            if index > begin or place > new_begin:
                yield _Change(begin, index, new_begin, place)
            begin, new_begin = index + 1, place + 1
    if begin < len(old) or new_begin < len(new):
        yield _Change(begin, len(old), new_begin, len(new))


def _hunks(changes: list[_Change]) -> Iterator[list[_Change]]:
    """Group changes whose contexts touch."""
    hunk = changes[:1]
    for change in changes[1:]:
        if change.begin - hunk[-1].end > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    yield hunk


def _hunk_lines(old: list[str], new: list[str], hunk: list[_Change], room: int) -> list[str]:
    """Return the first `room` lines of a hunk, including context."""
    lines: list[str] = []
    at = max(hunk[0].begin - CONTEXT, 0)
    for change in hunk:
        lines += [f" {_visible(line)}" for line in old[at : change.begin]]
        if len(lines) >= room:
            return lines[: max(room, 0)]
        size = room - len(lines)
        lines += _changed_lines(
            old[change.begin : change.end][:size], new[change.new_begin : change.new_end][:size]
        )
        at = change.end
    lines += [f" {_visible(line)}" for line in old[at : at + CONTEXT]]
    return lines[:room]


def _changed_lines(removed: list[str], added: list[str]) -> list[str]:
    """Return removed and added lines, in pairs if there are as many, so that a cut diff helps."""
    minus = [f"-{_visible(line)}" for line in removed]
    plus = [f"+{_visible(line)}" for line in added]
    if len(minus) != len(plus):
        return minus + plus
    return [line for pair in zip(minus, plus, strict=True) for line in pair]


def _hunk_head(lines: list[str], hunk: list[_Change]) -> str:
    """Return the head of a hunk: where its lines start and how many there are."""
    context = min(CONTEXT, hunk[0].begin)
    start, new_start = hunk[0].begin - context, hunk[0].new_begin - context
    count = sum(line[0] != "+" for line in lines)
    new_count = sum(line[0] != "-" for line in lines)
    return f"@@ -{start + (count > 0)},{count} +{new_start + (new_count > 0)},{new_count} @@"


def _visible(line: str) -> str:
    return visible(line.replace("\r", "␍"))


FIRST_LINES = 10
SHOWN_TAGS = 20  # a broken file may have a new tag on every line
# A value may be a line of several megabytes. Pages show less of it than the download.
SHOWN_CHARACTERS = 200
KEPT_CHARACTERS = 1000
TERMINAL_CHARACTERS = 60
DIFF_LINES = 60
DIFF_CHARACTERS = 160
_DIFF_KINDS = {"+": "added", "-": "removed", "@": "gap", "…": "gap"}
OCCURRENCES = {"kind": pl.String, "severity": pl.String, **OCCURRENCE}


@dataclass(frozen=True)
class ReportedProblem:
    """All problems of one kind in a run file: their count, and the first occurrences.

    An occurrence has line, topic, found and expected.
    """

    kind: str
    severity: str
    count: int
    message: str
    todo: str
    first: Sequence[Mapping[str, Any]] = ()
    is_repairable: bool = False


@dataclass(frozen=True, eq=False)
class CheckResult:
    """The result of a check. `index` is None for an invalid run; the run's page shows `facts`.

    `sha256` is that of the unpacked run file, or empty if it could not be unpacked.
    """

    facts: dict[str, Any]
    problems: Sequence[ReportedProblem]
    occurrences: pl.DataFrame
    index: pl.DataFrame | None = None
    is_valid: bool = False
    sha256: str = ""

    @property
    def report(self) -> dict[str, Any]:
        """Return the report as plain data (`report_data`)."""
        return report_data(facts=self.facts, problems=self.problems, is_valid=self.is_valid)


def check_files(
    file: BinaryIO, pack: TaskPack, *, name: str, items: ItemKind | None = None
) -> dict[str, CheckResult]:
    """Check each run in a file (plain, gzip or zip) by the pack of its task.

    Return the results by the names of the runs. A file that cannot be unpacked has one result,
    under its own name. `items` overrides the kind of the items in a TREC file.
    """
    try:
        runs = pack.limits.unpack_by_name(file, name=name)
    except UploadRefusedError as refused:
        return {name: refused_result(refused.problems)}
    return {run: check_data(data, pack.rules, items=items) for run, data in runs.items()}


@panics_as_errors()
def check_data(data: bytes, rules: RunRules, *, items: ItemKind | None = None) -> CheckResult:
    """Check an unpacked run file, with the changes of its safe repairs among the facts.

    Raise EngineFailedError if polars panics.
    """
    result = check_result_of(check_run(data, rules, items=items))
    # The order of the index: scoring must notice when the task's order changes later.
    result.facts["order"] = rules.order
    if any(problem.is_repairable for problem in result.problems):
        result.facts["repair"] = repair_facts(data, rules)
    return replace(result, sha256=sha256(data).hexdigest())


def check_result_of(report: RunReport) -> CheckResult:
    """Return the result for a report of `arqkit.formats.runs.check`."""
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
        problems=[_reported(group) for group in report.problems],
        occurrences=pl.concat([pl.DataFrame(schema=OCCURRENCES), *columns], how="vertical"),
        index=report.index,
        is_valid=report.is_valid and report.index is not None,
    )


def _reported(group: ProblemGroup) -> ReportedProblem:
    first = group.occurrences.head(FIRST_LINES).with_columns(
        pl.col("found", "expected").str.slice(0, SHOWN_CHARACTERS)
    )
    return ReportedProblem(
        kind=group.kind,
        severity=group.severity.value,
        count=group.count,
        message=group.message,
        todo=group.todo,
        first=first.select(*OCCURRENCE).to_dicts(),
        is_repairable=group.repairable,
    )


def refused_result(problems: Iterable[Problem]) -> CheckResult:
    """Return the result for an upload that cannot be unpacked."""
    rows, columns = [], []
    for number, problem in enumerate(problems, start=1):
        occurrence = {
            "line": problem.line,
            "topic": None,
            "found": problem.found,
            "expected": problem.expected,
        }
        kind = "unreadable-file" if number == 1 else f"unreadable-file-{number}"
        message = f"Found {problem.found}; expected {problem.expected}."
        severity = Severity.ERROR.value
        rows.append(ReportedProblem(kind, severity, 1, message, problem.todo, [occurrence]))
        columns.append({"kind": kind, "severity": severity, **occurrence})
    return CheckResult({}, rows, occurrences=pl.DataFrame(columns, schema=OCCURRENCES))


def repair_facts(data: bytes, rules: RunRules) -> list[dict[str, Any]]:
    """Return the first lines of the diff to the repaired run file, or none without a repair.

    Each line has its kind (added, removed, gap or empty), its number in the original file (None for
    an added line), and its text, shortened if it is too long to read.
    """
    repaired = repaired_run(data, rules)
    if repaired is None:
        return []
    lines, number = [], 0
    for line in repair_diff(data, repaired, most=DIFF_LINES).splitlines():
        if line.startswith(("--- ", "+++ ")):
            continue
        kind = _DIFF_KINDS.get(line[:1], "")
        if start := re.match(r"@@ -(\d+)", line):
            number = int(start[1])
        is_in_file = kind in {"", "removed"}
        text = _cut(line.replace("␍", r"\r"), DIFF_CHARACTERS)  # few fonts have U+240D
        lines.append({"kind": kind, "line": number if is_in_file else None, "text": text})
        number += is_in_file
    return lines


def report_data(
    *, facts: Mapping[str, Any], problems: Iterable[Any], is_valid: bool
) -> dict[str, Any]:
    """Return a report as plain data for the API and the commands.

    `problems` are ReportedProblems, or stored rows with their attributes.
    """
    return {
        "valid": is_valid,
        **{key: value for key, value in facts.items() if key != "repair"},
        "problems": [
            {
                "kind": problem.kind,
                "severity": problem.severity,
                "count": problem.count,
                "message": problem.message,
                "todo": problem.todo,
                "repairable": problem.is_repairable,
                "first": problem.first,
            }
            for problem in problems
        ],
    }


def report_text(name: str, report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a report from `report_data` for a terminal."""
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
        actual, expected = (
            _cut((place[name] or "").replace("\n", " "), TERMINAL_CHARACTERS)
            for name in ("found", "expected")
        )
        yield f"      {where}{topic}: {actual} (expected: {expected})"
    if problem["count"] > len(problem["first"]) > 0:
        yield f"      and {problem['count'] - len(problem['first']):,} more"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
