"""Written answers are read with their quotes, and no line is lost."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arqlab.formats.runs.answers import holds_answers, read_answers, records, write_record
from arqlab.formats.runs.layouts import TASK3, TWO_COLUMNS
from arqlab.formats.runs.report import RunRules
from arqlab.ir.records import TaskKind

RULES = RunRules(TaskKind.WRITTEN_ANSWERS, ("A.1",), limit=1)
CELLS = st.text(st.sampled_from('ab"\t\n\\$é '), max_size=8)


def cells_of(text: str) -> list[list[str]]:
    return [record.cells for record in records(text)]


def found(read) -> dict[str, list[int]]:
    return {finding.kind: finding.occurrences["line"].to_list() for finding in read.findings}


@given(st.lists(CELLS, min_size=2, max_size=4))
def test_what_is_written_is_read_again(cells):
    if any(cell.strip() for cell in cells):
        assert cells_of(write_record(cells) + "\n") == [cells]


@settings(max_examples=200)
@given(st.lists(st.tuples(st.just("A.1"), CELLS, CELLS), max_size=5))
def test_a_file_of_the_csv_module_is_read_as_that_reads_it(rows):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter="\t", lineterminator="\n").writerows(rows)

    assert cells_of(buffer.getvalue()) == [list(row) for row in rows]


@given(st.text(st.sampled_from('ab"\t\n')))
def test_the_records_cover_every_line_once(text):
    lines = [line for record in records(text) for line in range(record.line, record.last_line + 1)]

    assert (
        lines == list(range(1, len(text.removesuffix("\n").split("\n")) + 1)) if text else not lines
    )


def test_a_quotation_mark_that_is_left_open_swallows_no_line():
    text = 'A.1\t"open\nA.2\t"closed"\nA.3\t"Yes" he said\n'

    assert cells_of(text) == [["A.1", '"open'], ["A.2", "closed"], ["A.3", '"Yes" he said']]
    assert [record.is_open for record in records(text)] == [True, False, True]


def test_an_answer_may_go_over_several_lines():
    data = b'A.1\t1\t1.0\tt\t\t"first\nsecond"\nA.2\t1\t1.0\tt\t\tx\n'
    rows = read_answers(data, RULES).rows

    assert rows["answer"].to_list() == ["first\nsecond", "x"]
    assert rows.select("line", "last_line").rows() == [(1, 2), (3, 3)]


def test_headers_blank_lines_and_wrong_columns_are_told():
    read = read_answers(b"Query_Id\tRank\n\nA.1\t1\t1.0\tt\t\tx\nA.1\t1\t1.0\tt\tx\n", RULES)

    assert read.layout is TASK3
    assert found(read) == {"header-line": [1], "blank-lines": [2], "columns": [4]}


def test_two_columns_are_an_error_with_what_the_repair_would_write():
    read = read_answers(b"A.1\tBecause.\n", RULES)

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
        ("A.1\t1\t1.0\tt\t\tx", TaskKind.WRITTEN_ANSWERS, True),
        ("A.1\t1\t1.0\tt\t\tx", TaskKind.ANSWERS, True),
        ("A.1\tx", TaskKind.WRITTEN_ANSWERS, True),
        ("A.1\tx", TaskKind.ANSWERS, False),
        ("A.1\tQ0\t7\t1\t1.0\tt", TaskKind.WRITTEN_ANSWERS, False),
        ("A.1 Q0 7 1 1.0 t", TaskKind.WRITTEN_ANSWERS, False),
        ("A.1\t1\t7\t1\t1.0\tt", TaskKind.ANSWERS, False),
        ("A.1\t7\t1\t1.0\tt", TaskKind.WRITTEN_ANSWERS, False),
    ],
)
def test_answers_are_told_from_ranked_lists(line, kind, is_written):
    assert holds_answers(f"{line}\n".encode() * 3, kind) is is_written


def test_a_run_of_any_length_is_read_whole(monkeypatch):
    monkeypatch.setattr("arqlab.formats.runs.answers.CHUNK", 2)
    data = b"".join(b"A.1\t1\t1.0\tt\t\tanswer %d\n" % number for number in range(5))

    assert read_answers(data, RULES).rows["line"].to_list() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("score", ["0,9", "nan", "-Infinity"])
def test_formulas_whose_scores_are_all_wrong_are_still_a_ranked_list(score):
    data = f"B.1\t12\t7\t1\t{score}\trun\nB.1\t13\t7\t2\t{score}\trun\n".encode()

    assert not holds_answers(data, TaskKind.FORMULAS)


def test_answers_of_run_1_that_name_one_source_are_answers():
    data = b"A.1\t1\t1.0\t1\t123456\tIt is even.\nA.2\t1\t0.5\t1\t99\tBy induction.\n"

    assert holds_answers(data, TaskKind.WRITTEN_ANSWERS)
    assert holds_answers(data, TaskKind.FORMULAS)


def test_a_ranked_list_of_formulas_is_none_of_answers():
    data = b"B.1\t12\t7\t1\t0.9\trun\n"

    assert not holds_answers(data, TaskKind.WRITTEN_ANSWERS)
