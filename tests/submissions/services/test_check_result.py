"""The stored result of a check: facts, problems with their first lines, and every occurrence."""

from __future__ import annotations

from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.report import RunRules
from arqkit.records import Problem, TaskKind
from submissions.services.check_result import (
    FIRST_LINES,
    OCCURRENCES,
    check_result_of,
    failed_check_result,
    unreadable_upload_result,
)

RULES = RunRules(TaskKind.ANSWERS, ("A.1",))


def checked(*rows: str):
    return check_result_of(check_run("".join(f"{row}\n" for row in rows).encode(), RULES))


def test_a_run_without_problems_has_an_index_and_facts() -> None:
    outcome = checked("A.1\t1\t1\t2\tt")

    assert outcome.is_valid
    assert outcome.index.height == 1
    assert (outcome.facts["format"], outcome.facts["rows"], outcome.facts["run_tags"]) == (
        "arqmath-task1",
        1,
        ["t"],
    )
    assert (outcome.problems, outcome.occurrences.schema) == ([], OCCURRENCES)


def test_an_invalid_run_has_no_index() -> None:
    outcome = checked("A.1\t1\t1\tmuch\tt")

    assert not outcome.is_valid
    assert outcome.index is None


def test_a_problem_has_its_first_lines_and_the_frame_has_every_line() -> None:
    outcome = checked(*(f"A.1\t{number}\t{number}\tmuch\tt" for number in range(1, 31)))
    [problem] = outcome.problems

    assert (problem.kind, problem.count, len(problem.first)) == (
        "score-not-a-number",
        30,
        FIRST_LINES,
    )
    assert problem.first[0] == {
        "line": 1,
        "topic": "A.1",
        "found": "much",
        "expected": "a finite decimal number",
    }
    assert outcome.occurrences["line"].to_list() == list(range(1, 31))


def test_problems_are_numbered_in_the_order_of_the_report() -> None:
    outcome = checked("A.1\t1\t1\t2\tt", "", "A.1\t1\t2\t1\tt")

    assert [(problem.position, problem.kind) for problem in outcome.problems] == [
        (0, "duplicate-item"),
        (1, "blank-lines"),
    ]


def test_long_values_are_shortened() -> None:
    outcome = checked(f"A.1\t1\t1\t{'x' * 5000}\tt")

    assert len(outcome.problems[0].first[0]["found"]) == 200
    assert outcome.occurrences["found"].str.len_chars().to_list() == [1000]


def test_an_upload_that_cannot_be_unpacked_has_one_problem_per_fault() -> None:
    faults = [
        Problem("runs.zip/a", None, "a PDF document", "a run file", "Send the run file itself.")
    ] * 2
    outcome = unreadable_upload_result(faults)

    assert [problem.kind for problem in outcome.problems] == [
        "unreadable-file",
        "unreadable-file-2",
    ]
    assert outcome.problems[0].message == "Found a PDF document; expected a run file."
    assert (outcome.is_valid, outcome.occurrences.height) == (False, 2)


def test_a_failed_check_is_not_the_teams_fault() -> None:
    [problem] = failed_check_result(3).problems

    assert "failed 3 times" in problem.message
    assert "You do not need to do anything" in problem.todo
