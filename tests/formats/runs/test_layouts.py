"""The formats are told apart by themselves, and no line is lost."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arqlab.formats.runs.layouts import (
    TASK1,
    TASK2,
    TREC,
    UNKNOWN,
    read_ranked_list,
    wanted_formats,
)
from arqlab.formats.runs.report import RunRules
from arqlab.ir.records import TaskKind

ANSWERS = RunRules(TaskKind.ANSWERS, ("A.1",))
FORMULAS = RunRules(TaskKind.FORMULAS, ("B.1",))


def table(*lines: str, rules: RunRules = ANSWERS):
    return read_ranked_list(pl.Series("text", lines, dtype=pl.String), rules)


def found(read) -> dict[str, list[int]]:
    return {finding.kind: finding.occurrences["line"].to_list() for finding in read.findings}


FILES = {
    "five columns": (["A.1\t7\t1\t2.5\tt"], ANSWERS, TASK1, "\t"),
    "TREC": (["A.1\tQ0\t7\t1\t2.5\tt"], ANSWERS, TREC, "\t"),
    "TREC with 1 for Q0": (["A.1\t1\t7\t1\t2.5\tt", "A.1\t1\t8\t2\t2\tt"], FORMULAS, TREC, "\t"),
    "TREC with xxx and blanks": (["A.1 xxx  a–b:0 1 2.5 t "], FORMULAS, TREC, " "),
    "TREC in blanks and tabs": (["A.1 Q0\t7 1 2.5 t"], ANSWERS, TREC, " "),
    "formulas with posts": (
        ["B.1\t70\t9\t1\t2.5\tt", "B.1\t80\t9\t2\t2\tt"],
        FORMULAS,
        TASK2,
        "\t",
    ),
    "one formula with its post": (["B.1\t70\t9\t1\t2.5\tt"], FORMULAS, TASK2, "\t"),
    "commas": (["A.1,7,1,2.5,t"], ANSWERS, UNKNOWN, "\t"),
}


@pytest.mark.parametrize("name", FILES)
def test_the_format_is_told(name):
    lines, rules, layout, separator = FILES[name]
    read = table(*lines, rules=rules)

    assert (read.layout, read.separator) == (layout, separator)
    assert read.rows.height == (0 if layout is UNKNOWN else len(lines))


def test_cells_are_named_by_what_they_are():
    row = table("B.1\t70\t9\t1\t2.5\tt", rules=FORMULAS).rows.row(0, named=True)

    assert row == {
        "line": 1, "topic": "B.1", "item": "70", "post": "9", "rank_text": "1", "score_text": "2.5", "tag": "t"
    }  # fmt: skip


def test_lines_of_another_format_are_problems_of_columns():
    read = table("A.1\t7\t1\t2.5\tt", "A.1\tQ0\t8\t2\t2\tt", "A.1\t9\t3\t1\tt", "A.1 9 3 1 t")

    assert found(read) == {"columns": [2, 4]}
    assert read.findings[0].occurrences["found"][0] == "columns: 6; A.1\tQ0\t8\t2\t2\tt"
    assert read.lost.to_list() == [2, 4]


def test_headers_and_blank_lines_are_left_out_wherever_they_stand():
    head = "Query_Id\tPost_Id\tRank\tScore\tRun_Number"
    read = table(head, "A.1\t7\t1\t2.5\tt", " \t", "", head, "A.1\t8\t2\t2\tt", "#topic")

    assert found(read) == {"blank-lines": [3, 4], "header-line": [1, 5, 7]}
    assert read.rows["line"].to_list() == [2, 6]


def test_a_topic_of_the_task_is_never_a_header():
    read = table("topic\t7\t1\t2.5\tt", rules=RunRules(TaskKind.ANSWERS, ("topic",)))

    assert read.rows.height == 1


def test_blanks_around_cells_are_left_out_and_told():
    read = table("A.1 \t7\t 1\t2.5\tt", "A.1\t8\t2\t2\ta b")

    assert found(read) == {"padded-cells": [1]}
    assert read.rows["topic"].to_list() == ["A.1", "A.1"]
    assert read.rows["tag"].to_list() == ["t", "a b"]


def test_the_formats_of_a_task_are_named_for_people():
    assert wanted_formats(TaskKind.ANSWERS) == (
        "ARQMath Task 1 (5 columns: Query_Id, Post_Id, Rank, Score, Run_Number) "
        "or TREC (6 columns: topic, Q0, docno, rank, score, tag)"
    )


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text("A1 \tq", max_size=14), max_size=12), st.sampled_from([ANSWERS, FORMULAS]))
def test_every_line_becomes_a_row_or_a_problem(lines, rules):
    read = table(*lines, rules=rules)
    left_out = [
        line
        for kind in ("blank-lines", "header-line", "columns")
        for line in found(read).get(kind, [])
    ]

    assert sorted(read.rows["line"].to_list() + left_out) == list(range(1, len(lines) + 1))
