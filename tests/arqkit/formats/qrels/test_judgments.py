"""Files of judgments that were made elsewhere."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formats.qrels.judgments import JudgedLine, read_judgments
from arqkit.protocols.scales import ARQMATH
from arqkit.records import Problem

HEADING = "topic\titem\tlabel\tassessor\tcomment\tseconds\tjudged_at\n"


def read(text: str) -> tuple[list[JudgedLine], list[Problem]]:
    return read_judgments(text.encode(), path="j.tsv", scale=ARQMATH)


def one_problem(text: str) -> Problem:
    _, [problem] = read(text)
    return problem


def test_a_line_may_have_who_judged_why_how_long_and_when():
    [row], problems = read(
        HEADING + 'A.1\t10\t3\tana\t"It says ""yes""."\t12.5\t2026-11-21T15:00:00+01:00\r\n'
    )

    moment = datetime(2026, 11, 21, 14, tzinfo=UTC)
    assert row == JudgedLine(2, "A.1", "10", 3, "ana", 'It says "yes".', 12_500, moment)
    assert problems == []


def test_what_a_line_does_not_have_is_none():
    assert read("label\titem\ttopic\n2\t10\tA.1\n")[0] == [JudgedLine(2, "A.1", "10", 2)]
    assert read(HEADING + "A.1\t10\t0\t\t\t\t\n")[0] == [JudgedLine(2, "A.1", "10", 0)]


def test_a_file_without_heading_is_qrels_with_tabs_or_blanks():
    rows, problems = read("A.1 0 10 3.0\r\nA.1\tQ0\t11\t6")

    assert [(row.line, row.item, row.label) for row in rows] == [(1, "10", 3), (2, "11", 6)]
    assert problems == []


def test_marks_of_absurd_depth_are_a_problem():
    problem = one_problem("topic\titem\tlabel\tmarks\nA.1\t10\t3\t" + "[" * 100_000 + "\n")

    assert problem.found.startswith("the marks '[[[")


@pytest.mark.parametrize("text", ["<a>" * 100_000, "\0" * 200_000, "A.1 0 " + "1" * 200_000 + " 3"])
def test_a_first_line_of_absurd_length_is_a_problem(text):
    rows, problems = read(text)

    assert rows == []
    assert len(problems) == 1


def test_a_time_without_zone_is_in_utc():
    [row], _ = read("topic\titem\tlabel\tjudged_at\nA.1\t10\t1\t2026-11-21 14:05\n")

    assert row.judged_at == datetime(2026, 11, 21, 14, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ("A.1\t10\t4\t\t\t\t", "the label '4'"),
        ("A.1\t10\thigh\t\t\t\t", "the label 'high'"),
        ("A.1\t10\t\t\t\t\t", "no label"),
        ("\t10\t3\t\t\t\t", "no topic"),
        ("A.1\t\t3\t\t\t\t", "no item"),
        (f"A.1\t10\t3\t\t{'x' * 10_001}\t\t", "the comment 'xxx"),
        ("A.1\t10\t3\t\t\t-1\t", "the seconds '-1'"),
        ("A.1\t10\t3\t\t\tnan\t", "the seconds 'nan'"),
        ("A.1\t10\t3\t\t\t\tyesterday", "the judged_at 'yesterday'"),
        ("A.1\t10\t3\t\t\t\t0001-01-01T00:00:00+14:00", "the judged_at '0001"),
        ("A.1\t10\t3", "3 columns in"),
    ],
)
def test_an_invalid_cell_is_reported_with_its_line(cells, found):
    problem = one_problem(HEADING + "A.1\t9\t1\t\t\t\t\n" + cells + "\n")

    assert (problem.line, problem.found.startswith(found)) == (3, True), problem


WRITTEN = "topic\titem\tlabel\tdoc_id\tcurrent\tactive_ms\tmarks\tword\n"


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ("B.1\t\t1\tno\t\t", "the current 'no'"),
        ("B.1\t\t1\tyes\t-3\t", "the active_ms '-3'"),
        ("B.1\t\t1\tyes\t\t{}", "the marks '{}'"),
        ('B.1\t\t1\tyes\t\t"[] 1', "a cell that cannot be read (unexpected end of data)"),
    ],
)
def test_an_invalid_cell_of_an_export_is_reported(cells, found):
    topic, _, label, *rest = cells.split("\t")
    line = "\t".join([topic, "10", label, "10", *rest, "High"])

    assert one_problem(f"{WRITTEN}{line}\n").found == found


def test_an_earlier_label_is_none_of_those_that_are_repeated():
    old, new = "A.1\tv1\t3\t10\t\t\t\tHigh", '\nA.1\tv1\t0\t10\tyes\t7\t"[""é""]"\tNot'

    rows, problems = read(WRITTEN + old + "\n" + new)

    assert [(row.line, row.item, row.is_current, row.active_ms) for row in rows] == [
        *((2, "10", False, None), (4, "10", True, 7))
    ]
    assert (rows[1].marks, problems) == (["é"], [])


def test_a_second_label_for_an_item_is_reported_with_both_lines():
    problem = one_problem("A.1\t0\t10\t3\nA.2\t0\t10\t3\nA.1\t0\t10\t2\n")

    assert (problem.line, problem.found) == (3, "10 again for topic A.1 (first on line 1)")


def test_a_heading_with_unknown_missing_or_doubled_columns_is_reported_at_once():
    problem = one_problem("topic\tlabel\tlabel\tlabbel\nA.1\t1\t1\t1\n")

    assert (
        problem.found == "missing column 'item'; unknown column 'labbel'; repeated column 'label'"
    )


@pytest.mark.parametrize("text", ["", "\n\n", "topic\titem\tlabel\n"])
def test_a_file_without_judgments_is_reported(text):
    assert read(text)[0] == []
    assert len(read(text)[1]) == 1


def test_all_problems_are_reported_in_one_reading():
    assert len(read("A.1 0 10 9\nA.1 0\nA.1 0 12 3\nA.1 0 13 x\n")[1]) == 3


@given(st.binary(max_size=200))
def test_whatever_the_bytes_are_they_are_read_or_reported(data):
    rows, problems = read_judgments(data, path="j.tsv", scale=ARQMATH)

    assert rows or problems
