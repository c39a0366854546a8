"""The diff to the repaired file for the run's page."""

from __future__ import annotations

import pytest

from arqkit.formats.runs.report import RunRules
from arqkit.records import TaskKind
from submissions.services.repair import SHOWN_CHARACTERS, SHOWN_LINES, repair_facts

RULES = RunRules(TaskKind.ANSWERS, ("A.1",))


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

    assert len(added[2]) == SHOWN_CHARACTERS + 1
    assert added[2].endswith("…")


def test_a_long_diff_is_cut_and_the_remaining_lines_are_counted() -> None:
    rows = [f"A.1\t{number}\t{number}\t{500 - number},5\tt" for number in range(1, 200)]
    facts = lines_of(*rows)

    assert len(facts) <= SHOWN_LINES + 2
    assert facts[-1][0] == "gap"
    assert "more changed lines" in facts[-1][2]


@pytest.mark.parametrize("data", [b"", b"A.1\tsch\xf6n\t1\t2\tt\n"])
def test_a_file_that_cannot_be_repaired_has_no_diff(data: bytes) -> None:
    assert repair_facts(data, RULES) == []
