"""The format of a file is recognized, every line becomes a row or a problem."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arqkit.formats.runs import formats
from arqkit.formats.runs.formats import (
    TASK1,
    TASK2,
    TASK3,
    TASK3_IDS,
    TREC,
    TWO_COLUMNS,
    UNKNOWN,
    RunTable,
    holds_answers,
    read_rows,
    wanted_formats,
)
from arqkit.formats.runs.report import RunRules
from arqkit.records import ItemKind, TaskKind

ANSWERS = RunRules(TaskKind.ANSWERS, ("A.1",))
FORMULAS = RunRules(TaskKind.FORMULAS, ("B.1",))
TREC_ONLY = RunRules(TaskKind.FORMULAS, ("B.1",), trec_only=True)
WRITTEN = RunRules(TaskKind.GENERATED_ANSWERS, ("A.1",), limit=1)


def table(*lines: str, rules: RunRules = ANSWERS) -> RunTable:
    return read_rows("".join(f"{line}\n" for line in lines).encode(), rules)


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
    "TREC, numbered in the second column": (
        ["A.1\t1\t7\t1\t2.5\tt", "A.1\t2\t8\t2\t2\tt"],
        ANSWERS,
        TREC,
        "\t",
    ),
    "TREC only": (["B.1\t70\t9\t1\t2.5\tt", "B.1\t80\t9\t2\t2\tt"], TREC_ONLY, TREC, "\t"),
    "TREC with the topic for Q0": (
        [f"{topic} {topic} {item} {item} 1 t" for topic in ("B.1", "B.2") for item in (1, 2, 3)],
        FORMULAS,
        TREC,
        " ",
    ),
    "formulas, one twice": (
        ["B.1 70 9 1 2.5 t", "B.1 80 8 2 2 t", "B.1 70 7 3 1 t"],
        FORMULAS,
        TASK2,
        " ",
    ),
    "commas": (["A.1,7,1,2.5,t"], ANSWERS, TASK1, ","),
    "commas and spaces": (["A.1, 7, 1, 2.5, t"], ANSWERS, TASK1, ","),
    "commas in the ids": (["A.1 a,b,c,d,e 1 2.5 t"], ANSWERS, TASK1, " "),
    "quoted CSV": (['"A.1", "Q0", "7", "1", "2.5", "t"'], ANSWERS, TREC, ","),
    "semicolons": (["A.1;7;1;2,5;t"], ANSWERS, TASK1, ";"),
    "spaces and a comma": (["A.1 7 1 2,5 t"], ANSWERS, TASK1, " "),
    "colons": (["A.1:7:1:2.5:t"], ANSWERS, UNKNOWN, "\t"),
}


@pytest.mark.parametrize("name", FILES)
def test_the_format_is_reported(name):
    lines, rules, layout, separator = FILES[name]
    read = table(*lines, rules=rules)

    assert (read.layout, read.separator) == (layout, separator)
    assert read.rows.height == (0 if layout is UNKNOWN else len(lines))


def test_cells_are_named_by_what_they_are():
    row = table("B.1\t70\t9\t1\t2.5\tt", rules=FORMULAS).rows.row(0, named=True)

    assert row == {
        "line": 1, "topic": "B.1", "item": "70", "post": "9", "rank_text": "1",
        "score_text": "2.5", "tag": "t", "rank": 1, "score": 2.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "kinds"), [(["Q0"] * 19 + ["1"], set()), (["1", "2"], {"second-column"})]
)
def test_a_second_column_that_varies_is_reported_if_the_file_is_read_as_trec(rows, kinds):
    lines = [f"B.1\t{second}\t{rank}\t{rank}\t1\tt" for rank, second in enumerate(rows, start=1)]

    assert found(table(*lines, rules=TREC_ONLY)).keys() == kinds
    assert table(*lines, rules=TREC_ONLY).rows["item"][0] == "1"


def test_lines_of_another_format_are_problems_of_columns():
    read = table("A.1\t7\t1\t2.5\tt", "A.1\tQ0\t8\t2\t2\tt", "A.1\t9\t3\t1\tt", "A.1 9 3 1 t")

    assert found(read) == {"columns": [2, 4]}
    assert read.findings[0].occurrences["found"][0] == "columns: 6; A.1\tQ0\t8\t2\t2\tt"
    assert read.lost.to_list() == [2, 4]


def test_headers_and_blank_lines_are_left_out_anywhere():
    head = "Query_Id\tPost_Id\tRank\tScore\tRun_Number"
    read = table(head, "A.1\t7\t1\t2.5\tt", " \t", "", head, "A.1\t8\t2\t2\tt", "#topic")

    assert found(read) == {"blank-lines": [3, 4], "header-line": [1, 5, 7]}
    assert read.rows["line"].to_list() == [2, 6]


def test_a_topic_of_the_task_is_never_a_header():
    read = table("topic\t7\t1\t2.5\tt", rules=RunRules(TaskKind.ANSWERS, ("topic",)))

    assert read.rows.height == 1


def test_blanks_around_cells_are_left_out_and_reported():
    read = table("A.1 \t7\t 1\t2.5\tt", "A.1\t8\t2\t2\ta b")

    assert found(read) == {"padded-cells": [1]}
    assert read.rows["topic"].to_list() == ["A.1", "A.1"]
    assert read.rows["tag"].to_list() == ["t", "a b"]


def test_of_formats_with_as_many_columns_that_with_the_topics_is_taken(monkeypatch):
    backward = TASK1._replace(format="backward", columns=TASK1.columns[::-1])
    monkeypatch.setattr(formats, "FORMATS", (backward, *formats.FORMATS))

    assert table("t\t2.5\t1\t7\tA.1").rows["topic"].to_list() == ["A.1"]
    assert table("A.1\t7\t1\t2.5\tt").rows["topic"].to_list() == ["A.1"]


def test_the_formats_of_a_task_are_named_for_people():
    assert wanted_formats(TREC_ONLY) == "TREC (6 columns: topic, Q0, docno, rank, score, tag)"
    assert wanted_formats(ANSWERS) == (
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


def test_ranks_and_scores_are_numbers_or_nothing():
    rows = read_rows(b"A.1\t1\t2\t2.5\tt\nA.1\t1\tx\t0,5\tt\n", RunRules(TaskKind.ANSWERS)).rows

    assert rows.select("rank", "score").rows() == [(2, 2.5), (None, 0.5)]


@pytest.mark.parametrize(
    ("line", "rules", "items"),
    [
        ("B.1 Q0 7 1 2.5 t", FORMULAS, None),
        ("A.1\t7\t1\t2.5\tt", ANSWERS, ItemKind.POSTS),
        ("B.1\t70\t9\t1\t2.5\tt", FORMULAS, ItemKind.FORMULA_IDS),
        ("A.1\t1\t1.0\tt\t\tx", WRITTEN, ItemKind.ANSWERS),
        ("A.1\tx", WRITTEN, ItemKind.ANSWERS),
    ],
)
def test_every_format_but_trec_knows_its_items(line, rules, items):
    assert table(line, rules=rules).layout.items is items


def test_an_answer_may_go_over_several_lines():
    data = b'A.1\t1\t1.0\tt\t\t"first\nsecond"\nA.2\t1\t1.0\tt\t\tx\n'
    rows = read_rows(data, WRITTEN).rows

    assert rows["answer"].to_list() == ["first\nsecond", "x"]
    assert rows.select("line", "last_line").rows() == [(1, 2), (3, 3)]


def test_headers_blank_lines_and_wrong_columns_are_reported():
    read = read_rows(b"Query_Id\tRank\n\nA.1\t1\t1.0\tt\t\tx\nA.1\t1\t1.0\tt\tx\n", WRITTEN)

    assert read.layout is TASK3
    assert found(read) == {"header-line": [1], "blank-lines": [2], "columns": [4]}


def test_two_columns_are_an_error_with_what_the_repair_would_write():
    read = read_rows(b"A.1\tBecause.\n", WRITTEN)

    assert read.layout is TWO_COLUMNS
    assert "two-columns" in found(read)
    assert read.rows.select("rank_text", "score_text", "tag", "sources").row(0) == (
        "1",
        "1.0",
        "run",
        "",
    )


@pytest.mark.parametrize(
    ("line", "kind", "is_written"),
    [
        ("A.1\t1\t1.0\tt\t\tx", TaskKind.GENERATED_ANSWERS, True),
        ("A.1\t1\t1.0\tt\t\tx", TaskKind.ANSWERS, True),
        ("A.1\tx", TaskKind.GENERATED_ANSWERS, True),
        ("A.1\tx", TaskKind.ANSWERS, False),
        ("A.1\tQ0\t7\t1\t1.0\tt", TaskKind.GENERATED_ANSWERS, False),
        ("A.1 Q0 7 1 1.0 t", TaskKind.GENERATED_ANSWERS, False),
        ("A.1\t1\t7\t1\t1.0\tt", TaskKind.ANSWERS, False),
        ("A.1\t7\t1\t1.0\tt", TaskKind.GENERATED_ANSWERS, False),
    ],
)
def test_answers_are_distinguished_from_ranked_lists(line, kind, is_written):
    assert holds_answers(f"{line}\n".encode() * 3, kind) is is_written


def test_a_run_of_any_length_is_read_whole(monkeypatch):
    monkeypatch.setattr("arqkit.formats.runs.lines.CHUNK", 2)
    data = b"".join(b"A.1\t1\t1.0\tt\t\tanswer %d\n" % number for number in range(5))

    assert read_rows(data, WRITTEN).rows["line"].to_list() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("score", ["0,9", "nan", "-Infinity"])
def test_formulas_whose_scores_are_all_wrong_are_still_a_ranked_list(score):
    data = f"B.1\t12\t7\t1\t{score}\trun\nB.1\t13\t7\t2\t{score}\trun\n".encode()

    assert not holds_answers(data, TaskKind.FORMULAS)


def test_answers_of_run_1_that_name_one_source_are_answers():
    data = b"A.1\t1\t1.0\t1\t123456\tIt is even.\nA.2\t1\t0.5\t1\t99\tBy induction.\n"

    assert holds_answers(data, TaskKind.GENERATED_ANSWERS)
    assert holds_answers(data, TaskKind.FORMULAS)


def test_a_ranked_list_of_formulas_is_none_of_answers():
    data = b"B.1\t12\t7\t1\t0.9\trun\n"

    assert not holds_answers(data, TaskKind.GENERATED_ANSWERS)


@pytest.mark.parametrize(("mark", "name"), [(",", "commas"), (";", "semicolons")])
def test_the_cells_of_a_csv_file_are_read_and_its_separator_reported(mark, name):
    header = mark.join(("Query_Id", "Post_Id", "Rank", "Score", "Run_Number"))
    read = table(header, f'"A.1"{mark} "7"{mark}"1"{mark}"2.5"{mark}"t"')

    [finding] = [each for each in read.findings if each.kind == "separator"]
    assert read.rows.select("topic", "item", "rank", "score", "tag").rows() == [
        ("A.1", "7", 1, 2.5, "t")
    ]
    assert (finding.facts["mark"], finding.repairable) == (name, True)


def test_answers_in_a_csv_file_are_not_cut_at_their_commas():
    read = table('A.1,1,2.5,t,"src","Yes, if $x=1$."', "", rules=WRITTEN)

    [finding] = [each for each in read.findings if each.kind == "separator"]
    assert (finding.facts["mark"], finding.repairable) == ("commas", False)


def test_answers_with_many_commas_are_no_csv_file():
    read = table("A.1\t1\t2.5\tt\tsrc\tOne, two, three, four, five.", rules=WRITTEN)

    assert [each.kind for each in read.findings] == []


BARE = replace(WRITTEN, topics=("A.1", "A.2"), has_answer_ids=True)


@pytest.mark.parametrize("lines", [["A.1\t1\t0.9\tgpt", "A.2\t1\t1\tgpt"], ["A.1 1 0.9 gpt"]])
def test_runs_without_texts_are_read_where_answers_have_published_ids(lines):
    read = table(*lines, rules=BARE)

    assert (read.layout, found(read)) == (TASK3_IDS, {})
    assert read.rows["item"].to_list() == read.rows["topic"].to_list()
    assert "answer" not in read.rows.columns


def test_runs_with_texts_are_read_there_as_elsewhere():
    line = "A.1\t1\t1.0\tgpt\t\tBecause."

    assert table(line, rules=BARE).layout == TASK3


def test_other_tasks_do_not_take_runs_without_texts():
    read = table("A.1\t1\t0.9\tgpt", rules=WRITTEN)

    assert (read.layout, list(found(read))) == (UNKNOWN, ["columns"])
