"""What is stored of a check: facts, kinds with their first lines, and every place in columns."""

from __future__ import annotations

from arqlab.formats.runs.check import RunRules, check_run
from arqlab.ir.records import Problem, TaskKind
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


def test_a_faultless_run_has_its_index_and_facts_and_no_problem() -> None:
    outcome = checked("A.1\t1\t1\t2\tt")

    assert outcome.is_valid
    assert outcome.index.height == 1
    assert (outcome.facts["format"], outcome.facts["rows"], outcome.facts["run_tags"]) == (
        "arqmath-task1",
        1,
        ["t"],
    )
    assert (outcome.problems, outcome.occurrences.schema) == ([], OCCURRENCES)


def test_a_refused_run_has_no_index() -> None:
    outcome = checked("A.1\t1\t1\tmuch\tt")

    assert not outcome.is_valid
    assert outcome.index is None


def test_a_kind_holds_its_first_lines_and_the_columns_every_one() -> None:
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


def test_problems_are_numbered_as_they_are_read() -> None:
    outcome = checked("A.1\t1\t1\t2\tt", "", "A.1\t1\t2\t1\tt")

    assert [(problem.position, problem.kind) for problem in outcome.problems] == [
        (0, "duplicate-item"),
        (1, "blank-lines"),
    ]


def test_what_was_found_is_kept_to_a_length_that_a_page_can_show() -> None:
    outcome = checked(f"A.1\t1\t1\t{'x' * 5000}\tt")

    assert len(outcome.problems[0].first[0]["found"]) == 200
    assert outcome.occurrences["found"].str.len_chars().to_list() == [1000]


def test_an_upload_that_cannot_be_unpacked_has_a_problem_for_each_fault() -> None:
    faults = [
        Problem("runs.zip/a", None, "a PDF document", "a run file", "Send the run file itself.")
    ] * 2
    outcome = unreadable_upload_result(faults)

    assert [problem.kind for problem in outcome.problems] == [
        "unreadable-file",
        "unreadable-file-2",
    ]
    assert outcome.problems[0].message == "This is a PDF document; expected is a run file."
    assert (outcome.is_valid, outcome.occurrences.height) == (False, 2)


def test_a_check_that_never_ended_is_no_fault_of_the_team() -> None:
    [problem] = failed_check_result(3).problems

    assert "failed 3 times" in problem.message
    assert "Nothing is to be done by the team" in problem.todo
