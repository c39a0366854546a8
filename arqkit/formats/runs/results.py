"""The result of checking a run file for people: facts, problems, and the diff of a repair."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from hashlib import sha256
from itertools import chain, islice, takewhile
from typing import Any, BinaryIO, Required, TypedDict, cast

from arqkit.formats.archives.uploads import UploadRefusedError
from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.packs import TaskPack
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import ProblemGroup, RunReport, RunRules, listed, weighs
from arqkit.polars_errors import panics_as_errors
from arqkit.records import ItemKind, Problem, Severity
from arqkit.topics import visible

TERMINAL_CHARACTERS = 60
DIFF_LINES = 60
DIFF_CHARACTERS = 160
CONTEXT = 3  # unchanged lines shown around a change
COMPARED = 2_000  # lines of both files from the first change on

INTERNAL = ("repair", "verdict")
"""Facts that only the server uses: the lines of a repair, and what the verdict rests on."""


def check_files(
    file: BinaryIO, pack: TaskPack, *, name: str, items: ItemKind | None = None
) -> dict[str, RunReport]:
    """Check each run in a file (plain, gzip or zip) by the pack of its task.

    Return the reports by the names of the runs. A file that cannot be unpacked has one report,
    under its own name. `items` overrides the kind of the items in a TREC file.
    """
    try:
        runs = pack.limits.unpack_by_name(file, name=name)
    except UploadRefusedError as refused:
        return {name: refused_report(refused.problems)}
    return {run: check_data(data, pack.rules, items=items) for run, data in runs.items()}


@panics_as_errors()
def check_data(data: bytes, rules: RunRules, *, items: ItemKind | None = None) -> RunReport:
    """Check an unpacked run, with the changes of its repairs. Raise EngineFailedError."""
    report = check_run(data, rules, items=items)
    # The order of the index: scoring must notice when the task's order changes later.
    more: dict[str, object] = {"order": rules.order}
    if any(problem.is_repairable for problem in report.problems):
        more["repair"] = repair_facts(data, rules)
    return replace(report, more=more, sha256=sha256(data).hexdigest())


def refused_report(problems: Iterable[Problem]) -> RunReport:
    """Return the report of an upload that cannot be unpacked."""
    groups = []
    for number, (_, line, actual, expected, todo) in enumerate(problems, start=1):
        kind = "unreadable-file" if number == 1 else f"unreadable-file-{number}"
        message = f"Found {actual}; expected {expected}."
        places = listed([(line, None, actual, expected)])
        groups.append(ProblemGroup(kind, Severity.ERROR, 1, message, todo, places))
    return RunReport(problems=tuple(groups))


def repair_facts(data: bytes, rules: RunRules) -> list[dict[str, object]]:
    """Return the first changed lines of the repaired run file, or none without a repair.

    Each line has its kind (added, removed, gap or empty), its number in the original file (None for
    an added line), and its text, shortened if it is too long to read.
    """
    repaired = repaired_run(data, rules)
    return [] if repaired is None else repair_lines(data, repaired)


def repair_lines(before: bytes, after: bytes) -> list[dict[str, object]]:
    """Return the first lines of the diff from a file to another, as `repair_facts` describes."""
    if b"\r" in after:  # the repair kept them, so they are not a change
        before, after = before.replace(b"\r\n", b"\n"), after.replace(b"\r\n", b"\n")
    old, new = (data.decode(errors="replace").splitlines() for data in (before, after))
    lines = list(islice(_diff(old, new), DIFF_LINES))
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    listed_changes = sum(line["kind"] in ("removed", "added") for line in lines)
    if (rest := gone.total() + come.total() - listed_changes) > 0:
        text = f"… and {rest:,} more changed {'line is' if rest == 1 else 'lines are'}"
        lines.append(_diff_line("gap", None, f"{text} not shown here."))
    return lines


def _diff(old: list[str], new: list[str]) -> Iterator[dict[str, object]]:
    """Yield the lines of a diff. Removed and added lines are in pairs if there are as many."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    start = max(same - CONTEXT, 0)
    was, now = (file[start : start + COMPARED] for file in (old, new))
    is_cut = max(len(old), len(new)) > start + COMPARED
    for group in SequenceMatcher(None, was, now, autojunk=False).get_grouped_opcodes(CONTEXT):
        if is_cut and group[-1][0] != "equal" and group[-1][1] > CONTEXT:
            group.pop()  # the lines beyond may be the same
        if len(group) == 1 and group[0][0] == "equal":
            return
        yield _diff_line("gap", None, f"@@ line {start + group[0][1] + 1:,} @@")
        for tag, i, end, j, new_end in group:
            numbered = enumerate(was[i:end], start + i + 1)
            if tag == "equal":
                yield from (_diff_line("", number, f" {line}") for number, line in numbered)
                continue
            removed = [_diff_line("removed", number, f"-{line}") for number, line in numbered]
            added = [_diff_line("added", None, f"+{line}") for line in now[j:new_end]]
            is_paired = len(removed) == len(added)
            pairs = zip(removed, added, strict=True) if is_paired else (removed, added)
            yield from chain.from_iterable(pairs)


def _diff_line(kind: str, number: int | None, line: str) -> dict[str, object]:
    text = visible(line.replace("\r", r"\r"))
    return {"kind": kind, "line": number, "text": _cut(text, DIFF_CHARACTERS)}


class Occurrence(TypedDict):
    """Where a problem is, with what was found and expected there."""

    line: int | None
    topic: str | None
    found: str | None
    expected: str | None


class ReportedProblems(TypedDict):
    """The problems of a kind in a report."""

    kind: str
    severity: str
    count: int
    message: str
    todo: str
    repairable: bool
    first: list[Occurrence]


class ReportData(TypedDict, total=False):
    """A report as plain data; it has more facts than these, which a terminal does not show."""

    valid: Required[bool]
    problems: Required[list[ReportedProblems]]
    format_name: str
    rows: int
    topics: int
    run_tags: list[str]


def report_data(
    *, facts: Mapping[str, object], problems: Iterable[Any], is_valid: bool
) -> ReportData:
    """Return a report as plain data. `problems` are ProblemGroups, or stored rows like them."""
    groups: list[ReportedProblems] = [
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
    ]
    shown = {key: value for key, value in facts.items() if key not in INTERNAL}
    return cast("ReportData", {"valid": is_valid, **shown, "problems": groups})


def report_of(report: RunReport) -> ReportData:
    """Return a report as plain data (`report_data`)."""
    return report_data(facts=report.facts, problems=report.problems, is_valid=report.is_valid)


def report_text(name: str, report: ReportData) -> Iterator[str]:
    """Yield the lines of a report from `report_data` for a terminal."""
    facts = []
    if report.get("format_name"):
        facts = [report["format_name"], f"{report['rows']:,} rows", f"{report['topics']:,} topics"]
    state = "valid" if report["valid"] else "has errors"
    if report["valid"] and any(weighs(it["kind"], it["severity"]) for it in report["problems"]):
        state = "valid, but its scores may mean nothing: see the first warnings"
    yield f"{name}: {', '.join([state, *facts])}."
    if report.get("run_tags"):
        yield f"  run tag in the file: {', '.join(report['run_tags'][:5])}"
    for problem in report["problems"]:
        yield from _problem_text(problem)
    if not report["problems"]:
        yield "  No problems found."


def _problem_text(problem: ReportedProblems) -> Iterator[str]:
    yield ""
    yield f"  {problem['severity'].upper()} {problem['kind']} ({problem['count']:,})"
    yield f"    {problem['message']}"
    yield f"    {problem['todo']}"
    for place in problem["first"]:
        where = "whole file" if place["line"] is None else f"line {place['line']}"
        topic = f", {place['topic']}" if place["topic"] else ""
        actual, expected = (
            _cut((text or "").replace("\n", " "), TERMINAL_CHARACTERS)
            for text in (place["found"], place["expected"])
        )
        yield f"      {where}{topic}: {actual} (expected: {expected})"
    if problem["count"] > len(problem["first"]) > 0:
        yield f"      and {problem['count'] - len(problem['first']):,} more"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
