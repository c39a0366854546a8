"""Tables as files for spreadsheets."""

import csv
import io
from datetime import UTC, datetime

import polars as pl
import pytest

from arqkit.formats.tables import csv_lines, frame_text, table_text, tsv_lines

COLUMNS = {"name": lambda row: row[0], "value": lambda row: row[1]}


def read(rows: list[tuple[object, object]]) -> list[list[str]]:
    """Return the cells of the rows as a reader of CSV finds them."""
    text = b"".join(csv_lines(COLUMNS, rows)).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))[1:]


def test_a_spreadsheet_recognizes_utf_8_by_the_byte_order_mark():
    assert b"".join(csv_lines(COLUMNS, [("Růžička", 1)])) == (
        b"\xef\xbb\xbfname,value\r\nR\xc5\xaf\xc5\xbei\xc4\x8dka,1\r\n"
    )


@pytest.mark.parametrize(
    "text",
    ['=HYPERLINK("https://x.org")', "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", " =1+1", "-"],
)
def test_a_text_that_starts_like_a_formula_is_no_formula(text):
    assert read([(text, 1)]) == [[f"'{text}", "1"]]


def test_other_texts_and_negative_numbers_stay():
    assert read([("a=b, c", -1.5), ("", None), ("x", True)]) == [
        ["a=b, c", "-1.5"],
        ["", ""],
        ["x", "yes"],
    ]


def test_tsv_has_no_mark_and_only_an_exact_one_has_formulas():
    at = datetime(2026, 11, 23, 12, tzinfo=UTC)
    for exact, cell in ((True, b"=1+1"), (False, b"'=1+1")):
        expected = b"name\tvalue\n" + cell + b"\t2026-11-23T12:00:00+00:00\n"
        assert b"".join(tsv_lines(COLUMNS, [("=1+1", at)], exact=exact)) == expected


CELLS = ["=1+1", "-1.5", "+2e-05", "a=b", "-", " @x", "", "\u2212", "-1+1", "12%"]


def test_all_writers_agree_on_what_is_a_formula():
    expected = ["'=1+1", "-1.5", "+2e-05", "a=b", "'-", "' @x", "", "\u2212", "'-1+1", "12%"]

    frame = frame_text(pl.DataFrame({"name": CELLS, "value": 0.5}), delimiter=",")
    texts = [table_text([["name"], *([cell] for cell in CELLS)], delimiter=","), frame]
    for text in texts:
        assert [row[0] if row else "" for row in csv.reader(text.splitlines())][1:] == expected
