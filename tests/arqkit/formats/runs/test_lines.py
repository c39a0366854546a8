"""The bytes of a run file become lines, records and cells, and every fault has its place."""

import csv
import io

from hypothesis import given, settings
from hypothesis import strategies as st

from arqkit.formats.runs import lines as run_lines
from arqkit.formats.runs.lines import (
    decode_run,
    line_end_findings,
    records,
    split_lines,
    write_record,
)

CELLS = st.text(st.sampled_from('ab"\t\n\\$é '), max_size=8)


def found(data: bytes) -> dict[str, list[tuple]]:
    return {finding.kind: finding.occurrences.rows() for finding in decode_run(data).findings}


@given(st.text(st.sampled_from("ab\t é\n")))
def test_every_physical_line_is_kept(text):
    lines = text.removesuffix("\n").split("\n") if text else []

    assert split_lines(text.encode()).to_list() == lines


def test_line_ends_of_windows_are_taken_off():
    assert split_lines(b"a\r\n\r\nb").to_list() == ["a", "", "b"]


def test_pieces_are_cut_between_lines(monkeypatch):
    monkeypatch.setattr(run_lines, "PIECE", 3)

    assert split_lines("äb\nc\n\nlonger\nd".encode()).to_list() == ["äb", "c", "", "longer", "d"]


def test_a_byte_that_is_not_utf_8_is_found_with_its_line_and_as_latin_1(monkeypatch):
    monkeypatch.setattr(run_lines, "PIECE", 3)
    data = "gut\nä1\nschön\n".encode("latin-1")

    assert [place[0] for place in found(data)["encoding"]] == [2, 3]
    assert (
        found(data)["encoding"][1][2]
        == "byte F6 at byte 4 of the line; as Latin-1 it reads 'schön'"
    )
    assert split_lines(data).to_list() == ["gut", "\ufffd1", "sch\ufffdn"]
    assert not decode_run(data).can_repair


def test_a_byte_order_mark_is_found_and_left_out():
    text = decode_run(b"\xef\xbb\xbfA.1\n")

    assert text.data == b"A.1\n"
    assert text.findings[0].kind == "bom"


def test_utf_16_is_no_text():
    assert not decode_run("A.1".encode("utf-16")).is_text


def test_null_bytes_are_listed_by_line_and_left_out():
    text = decode_run(b"A.1\nA\0.\0\n\0B\r\xff\0\n")

    places = text.findings[1].occurrences.select("line", "found").rows()
    assert [finding.kind for finding in text.findings] == ["cr", "null-byte", "encoding"]
    assert places == [
        (2, "byte 00 at byte 2 of the line"),
        (3, "byte 00 at byte 1 of the line"),
        (4, "byte 00 at byte 2 of the line"),
    ]
    assert text.data == b"A.1\nA.\nB\n\xff\n"
    assert (text.is_text, text.can_repair) == (True, False)


def test_a_carriage_return_alone_is_read_as_a_line_end():
    text = decode_run(b"a\rb\r\nc\rd\n")

    assert [place[0] for place in found(b"a\rb\r\nc\rd\n")["cr"]] == [1, 3]
    assert text.data == b"a\nb\nc\nd\n"


def test_line_ends_of_windows_are_listed_where_not_every_line_has_them():
    def lines(data, size):
        return [
            line
            for finding in line_end_findings(data, size)
            for line in finding.occurrences["line"]
        ]

    assert lines(b"a\r\nb\nc\r\n", 3) == [1, 3]
    assert lines(b"a\r\nb\r\n", 2) == [None]


def test_a_last_line_without_a_line_end_is_noted():
    (finding,) = line_end_findings(b"a\nb", 2)

    assert (finding.kind, finding.occurrences["line"].to_list()) == ("no-final-newline", [2])


def cells_of(text: str) -> list[list[str]]:
    return [record.cells for record in records(text)]


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
