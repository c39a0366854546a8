"""The diff to the repaired file, as the run's page shows it."""

from __future__ import annotations

import pytest

from arqlab.formats.runs.report import RunRules
from arqlab.ir.records import TaskKind
from submissions.services.repair import SHOWN_CHARACTERS, SHOWN_LINES, repair_facts

RULES = RunRules(TaskKind.ANSWERS, ("A.1",))


def lines_of(*rows: str) -> list[tuple[str, int | None, str]]:
    facts = repair_facts("".join(f"{row}\n" for row in rows).encode(), RULES)
    return [(fact["kind"], fact["line"], fact["text"]) for fact in facts]


def test_nothing_to_repair_is_no_diff() -> None:
    assert lines_of("A.1\t1\t1\t2\tt") == []


def test_a_changed_line_stands_as_it_was_and_as_it_becomes() -> None:
    shown = lines_of("A.1\t1\t1\t9\tt", "A.1\t2\t2\t0,9\tt")

    assert shown[-2:] == [
        ("removed", 2, "-A.1\t2\t2\t0,9\tt"),
        ("added", None, "+A.1\t2\t2\t0.9\tt"),
    ]


def test_a_line_that_goes_bears_its_number_in_the_file_as_sent() -> None:
    shown = lines_of("A.1\t1\t1\t9\tt", "", "A.1\t2\t2\t8\tt")

    assert [line for line in shown if line[0] == "removed"] == [("removed", 2, "-")]
    assert (("", 3, " A.1\t2\t2\t8\tt")) in shown


def test_a_line_too_long_to_read_is_cut() -> None:
    [*_, added] = lines_of(f"A.1\t{'1' * 300}\t1\t0,9\tt")

    assert len(added[2]) == SHOWN_CHARACTERS + 1
    assert added[2].endswith("…")


def test_only_the_beginning_of_a_long_diff_is_kept_and_the_rest_is_counted() -> None:
    rows = [f"A.1\t{number}\t{number}\t{500 - number},5\tt" for number in range(1, 200)]
    facts = lines_of(*rows)

    assert len(facts) <= SHOWN_LINES + 2
    assert facts[-1][0] == "gap"
    assert "more changed lines" in facts[-1][2]


@pytest.mark.parametrize("data", [b"", b"A.1\tsch\xf6n\t1\t2\tt\n"])
def test_a_file_that_cannot_be_written_anew_has_no_diff(data: bytes) -> None:
    assert repair_facts(data, RULES) == []
