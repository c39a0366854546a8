"""Findings become problems in full sentences, with a place for each."""

import re

import polars as pl
import pytest

from arqkit.formats.runs.report import (
    KINDS,
    OCCURRENCE,
    Finding,
    ProblemGroup,
    RunReport,
    describe,
    find_rows,
    listed,
    occurrences,
    sort_problems,
)
from arqkit.records import Severity

FACTS = (
    "format", "wanted", "unknown", "item", "limit", "order", "counts", "ties", "tag",
    "limit_answers", "max_characters", "part", "ends", "mark", "spelled", "left_out", "tags",
    "place", "hint", "effect", "form", "keys", "number",
)  # fmt: skip


def a_group(kind: str, *, count: int = 1, can_repair: bool = True, **options: object):
    places = listed([(line, "A.1", "x", "y") for line in range(1, count + 1)])
    return describe(
        Finding(kind, places, dict.fromkeys(FACTS, "..."), **options), can_repair=can_repair
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_described_in_full_sentences(kind):
    group = a_group(kind)

    assert re.fullmatch(r"[A-Z\d].*\.+", group.message)
    assert re.fullmatch(r"[A-Z].*\.", group.todo)


@pytest.mark.parametrize("kind", KINDS)
def test_a_repair_is_described_only_where_there_is_one(kind):
    assert a_group(kind).is_repairable == ("The repaired file" in a_group(kind).todo)
    assert "repaired" not in a_group(kind, can_repair=False).todo
    assert "repaired" not in a_group(kind, repairable=False).todo


def test_numbers_and_words_agree():
    assert "1 line has a rank" in a_group("rank-jump").message
    assert "1,200 lines have a rank" in a_group("rank-jump", count=1200).message


def test_a_finding_may_override_the_severity():
    assert a_group("unknown-item").severity is Severity.ERROR
    assert a_group("unknown-item", severity=Severity.NOTE).severity is Severity.NOTE


def test_a_note_does_not_ask_to_remove_items():
    assert "Remove" in a_group("unknown-item").todo
    assert a_group("unknown-item", severity=Severity.NOTE).todo == "Nothing to do."


def test_errors_come_first_and_kinds_in_the_order_of_the_file():
    groups = [a_group(kind) for kind in ("crlf", "rank-jump", "over-limit", "columns", "bom")]

    assert [group.kind for group in sort_problems(groups)] == [
        "columns",
        "over-limit",
        "bom",
        "rank-jump",
        "crlf",
    ]


def test_occurrences_have_a_row_for_each_row_sorted_by_line():
    rows = pl.DataFrame({"line": [3, 1], "topic": ["A.1", "A.2"], "rank": [7, 8]})
    places = occurrences(rows, actual="rank", expected=pl.lit("1"))

    assert dict(places.schema) == OCCURRENCE
    assert places.rows() == [(1, "A.2", "8", "1"), (3, "A.1", "7", "1")]


def test_rows_become_a_finding_and_no_rows_none():
    rows = pl.DataFrame({"line": [3], "topic": ["A.1"], "rank": [7]})
    [finding] = find_rows("rank-start", rows, "rank", "1", counts="...")

    assert (finding.kind, finding.facts) == ("rank-start", {"counts": "..."})
    assert finding.occurrences.rows() == [(3, "A.1", "7", "1")]
    assert list(find_rows("rank-start", rows.clear(), "rank", "1")) == []


def test_a_place_without_a_line_is_the_whole_file():
    assert listed([(None, None, "x", "y")]).rows() == [(None, None, "x", "y")]
    assert dict(listed([]).schema) == OCCURRENCE


@pytest.mark.parametrize(
    ("severity", "is_valid"), [("error", False), ("warning", True), ("note", True)]
)
def test_a_run_is_valid_when_no_problem_is_an_error(severity, is_valid):
    group = ProblemGroup("x", Severity(severity), 1, "X.", "Y.", listed([]))
    report = RunReport(problems=(group,))

    assert report.is_valid is is_valid
