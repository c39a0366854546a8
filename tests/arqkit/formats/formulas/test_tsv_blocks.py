"""A block of a TSV file as columns; what files hold is told in test_formulaindex.py."""

import csv
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formats.formulas.index import cells_of, read_tsv_block

CELL = st.text('a"\t\n ü', max_size=6)


def block(data: bytes, *, is_last: bool = True, line: int = 1):
    return read_tsv_block(
        data, source="1.tsv", headings=["id", "post", "text"], line=line, is_last=is_last
    )


@given(st.lists(CELL, min_size=1, max_size=5))
def test_a_row_of_a_csv_writer_is_parted_into_its_cells(cells):
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="").writerow(cells)

    assert cells_of(text.getvalue()) == cells


@pytest.mark.parametrize("text", ['"a', '"a"b', '"a"b"', 'x\t"a" \ty'])
def test_a_cell_that_goes_on_after_its_quotes_is_none(text):
    assert cells_of(text) is None


def test_quotes_inside_a_cell_are_text():
    assert cells_of('7\ta "b" c\t') == ["7", 'a "b" c', ""]


@pytest.mark.parametrize("before", [b"", b"\n"], ids=["alone", "after an odd line"])
def test_a_row_that_has_not_ended_is_left_for_the_next_block(before):
    found = block(before + b'1\t1\ta\n2\t1\t"b\n', is_last=False, line=10)

    line = 10 + len(before)
    assert found.frame.rows() == [("1", "1", "a", line)]
    assert (found.rest, found.next_line, found.problems) == (b'2\t1\t"b\n', line + 1, [])


def test_rows_stay_in_order_however_they_are_read():
    found = block(b'1\t1\ta\n2\t1\t"b\nc"\n3\t1\t"d\te"\n4\t1\tf\n')

    assert found.frame.rows() == [
        ("1", "1", "a", 1),
        ("2", "1", "b\nc", 2),
        ("3", "1", "d\te", 4),
        ("4", "1", "f", 5),
    ]


def test_lines_are_counted_from_the_one_that_is_given():
    found = block(b"1\t1\n2\t1\ta\n3\n", line=41)

    assert [problem.line for problem in found.problems] == [41, 43]
    assert found.frame["line"].to_list() == [42]
    assert found.next_line == 44


def test_no_bytes_are_no_rows():
    assert block(b"").frame.schema == {
        "id": pl.String,
        "post": pl.String,
        "text": pl.String,
        "line": pl.Int64,
    }
