"""The result of a check: facts, problems with their first lines, occurrences, repairs."""

import pytest

from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.report import FIRST_LINES, OCCURRENCES, RunRules
from arqkit.formats.runs.results import (
    DIFF_CHARACTERS,
    DIFF_LINES,
    refused_report,
    repair_facts,
    report_of,
    report_text,
)
from arqkit.records import Problem, TaskKind

RULES = RunRules(TaskKind.ANSWERS, ("A.1",))


def checked(*rows: str):
    return check_run("".join(f"{row}\n" for row in rows).encode(), RULES)


def test_a_run_without_problems_has_an_index_and_facts() -> None:
    outcome = checked("A.1\t1\t1\t2\tt")

    assert outcome.is_valid
    assert outcome.index.height == 1
    assert (outcome.facts["format"], outcome.facts["rows"], outcome.facts["run_tags"]) == (
        "arqmath-task1",
        1,
        ["t"],
    )
    assert (outcome.problems, outcome.occurrences.schema) == ((), OCCURRENCES)


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


def test_problems_are_in_the_order_of_the_report() -> None:
    outcome = checked("A.1\t1\t1\t2\tt", "", "A.1\t1\t2\t1\tt")

    assert [problem.kind for problem in outcome.problems] == ["duplicate-item", "blank-lines"]


def test_long_values_are_shortened() -> None:
    outcome = checked(f"A.1\t1\t1\t{'x' * 5000}\tt")

    assert len(outcome.problems[0].first[0]["found"]) == 200
    assert outcome.occurrences["found"].str.len_chars().to_list() == [1000]


def test_an_upload_that_cannot_be_unpacked_has_one_problem_per_fault() -> None:
    faults = [
        Problem("runs.zip/a", None, "a PDF document", "a run file", "Send the run file itself.")
    ] * 2
    outcome = refused_report(faults)

    assert [problem.kind for problem in outcome.problems] == [
        "unreadable-file",
        "unreadable-file-2",
    ]
    assert outcome.problems[0].message == "Found a PDF document; expected a run file."
    assert (outcome.is_valid, outcome.occurrences.height) == (False, 2)


def test_the_text_of_a_report_counts_the_places_that_it_does_not_list() -> None:
    outcome = checked(*(f"A.1\t{number}\t{number}\tmuch\tt" for number in range(1, 31)))
    *_, listed, last = report_text("run.tsv", report_of(outcome))

    assert listed == "      line 10, A.1: much (expected: a finite decimal number)"
    assert last == "      and 20 more"


def lines_of(*rows: str) -> list[tuple[str, int | None, str]]:
    facts = repair_facts("".join(f"{row}\n" for row in rows).encode(), RULES)
    return [(fact["kind"], fact["line"], fact["text"]) for fact in facts]


def test_a_file_without_repairable_problems_has_no_diff() -> None:
    assert lines_of("A.1\t1\t1\t2\tt") == []


def test_a_changed_line_is_shown_before_and_after_the_repair() -> None:
    shown = lines_of("A.1\t1\t1\t9\tt", "A.1\t2\t2\t0,9\tt")

    assert shown[-2:] == [
        ("removed", 2, "-A.1\t2\t2\t0,9\tt"),
        ("added", None, "+A.1\t2\t2\t0.9\tt"),
    ]


def test_a_removed_line_has_its_number_in_the_original_file() -> None:
    shown = lines_of("A.1\t1\t1\t9\tt", "", "A.1\t2\t2\t8\tt")

    assert [line for line in shown if line[0] == "removed"] == [("removed", 2, "-")]
    assert (("", 3, " A.1\t2\t2\t8\tt")) in shown


def test_a_long_line_is_shortened() -> None:
    [*_, added] = lines_of(f"A.1\t{'1' * 300}\t1\t0,9\tt")

    assert len(added[2]) == DIFF_CHARACTERS + 1
    assert added[2].endswith("…")


def test_a_long_diff_is_cut_and_the_remaining_lines_are_counted() -> None:
    rows = [f"A.1\t{number}\t{number}\t{500 - number},5\tt" for number in range(1, 200)]
    facts = lines_of(*rows)

    assert len(facts) <= DIFF_LINES + 2
    assert facts[-1][0] == "gap"
    assert "more changed lines" in facts[-1][2]


@pytest.mark.parametrize("data", [b"", b"A.1\tsch\xf6n\t1\t2\tt\n"])
def test_a_file_that_cannot_be_repaired_has_no_diff(data: bytes) -> None:
    assert repair_facts(data, RULES) == []
