"""The formula index of the three editions, and what can be wrong with it."""

import bz2
import csv
import gzip
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formats.formulas import index
from arqkit.formats.formulas.index import COLUMNS, IndexPart, read_index
from arqkit.formats.formulas.seen_ids import SeenIds
from tests.real_data import DATA, needs_data

HEAD = "id\tpost_id\tthread_id\ttype\tvisual_id\tformula\n"
ROWS = "7\t1\t1\ttitle\t70\ta^2\n8\t10\t1\tanswer\t\ta=2b\n9\t12\t2\tanswer\t70\ta^2\n"


def written(folder: Path, text: str | bytes, name: str = "1.tsv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def whole(path: Path) -> IndexPart:
    parts = list(read_index(path))
    return IndexPart(
        pl.concat([part.frame for part in parts]), [one for part in parts for one in part.problems]
    )


def formulas(path: Path) -> list[tuple[str, str | None]]:
    return whole(path).frame.select("formula_id", "formula").rows()


def told(path: Path) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.found) for problem in whole(path).problems]


def test_the_second_edition_has_one_visual_id(tmp_path: Path) -> None:
    frame, problems = whole(written(tmp_path, HEAD + ROWS))

    assert tuple(frame.columns) == COLUMNS
    assert set(frame.dtypes) == {pl.String}
    assert frame.row(1) == ("8", "10", "1", "answer", None, None, None, None, "a=2b")
    assert problems == []


def test_the_first_edition_has_no_visual_id(tmp_path: Path) -> None:
    path = written(tmp_path, "id\tpost_id\tthread_id\ttype\tformula\n7\t1\t1\ttitle\ta^2\n")

    assert whole(path).frame.row(0) == ("7", "1", "1", "title", None, None, None, None, "a^2")


def test_the_third_edition_has_comments_old_ids_and_issues(tmp_path: Path) -> None:
    head = "id\tpost_id\tthread_id\ttype\tcomment_id\told_visual_id\tvisual_id\tissue\tformula\n"
    path = written(tmp_path, head + "7\t1\t1\tcomment\t55\t70\t71\td\ta^2\n")

    assert whole(path).frame.row(0) == ("7", "1", "1", "comment", "55", "70", "71", "d", "a^2")


def test_topics_have_their_own_ids(tmp_path: Path) -> None:
    path = written(
        tmp_path, "id\ttopic_id\tthread_id\ttype\tslt\r\nq_1\tA.1\t3062860\ttitle\t<math/>\r\n"
    )

    assert whole(path).frame.row(0)[:3] == ("q_1", "A.1", "3062860")
    assert formulas(path) == [("q_1", "<math/>")]


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, bz2.compress], ids=["plain", "gzip", "bzip2"]
)
def test_a_packed_file_is_read_by_what_it_is_not_by_its_name(tmp_path: Path, pack: object) -> None:
    assert formulas(written(tmp_path, pack((HEAD + ROWS).encode()))) == [
        ("7", "a^2"),
        ("8", "a=2b"),
        ("9", "a^2"),
    ]


def test_a_folder_is_read_by_number_and_other_files_are_left(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        written(tmp_path, f"{HEAD}{number}\t1\t1\ttitle\t70\ta\n", f"{number}.tsv")
    written(tmp_path, "about", "README.md")
    written(tmp_path, "about", "._1.tsv")

    assert [formula_id for formula_id, _ in formulas(tmp_path)] == ["1", "2", "10"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD.replace("\n", "\r\n") + ROWS.replace("\n", "\r\n"), ["a^2", "a=2b", "a^2"]),
        ("\ufeff" + HEAD + ROWS, ["a^2", "a=2b", "a^2"]),
        (HEAD + ROWS.removesuffix("\n"), ["a^2", "a=2b", "a^2"]),
        (HEAD + '7\t1\t1\ttitle\t70\t"a ""b"" c"\n', ['a "b" c']),
        (HEAD + '7\t1\t1\ttitle\t70\t"a\tb"\n8\t1\t1\ttitle\t70\tc\n', ["a\tb", "c"]),
        (
            HEAD + '7\t1\t1\ttitle\t70\t"a\n\n""b""\tc"\n8\t1\t1\ttitle\t70\tc\n',
            ['a\n\n"b"\tc', "c"],
        ),
        (HEAD + '7\t1\t1\ttitle\t70\t"a\r\nb"\r\n', ["a\r\nb"]),
        (
            HEAD + '7\t1\t1\ttitle\t70\ta "b\n8\t1\t1\ttitle\t70\t"c"\n9\t1\t1\ttitle\t70\td" e\n',
            ['a "b', "c", 'd" e'],
        ),
        (HEAD + '"7"\t"1"\t1\t"title"\t70\ta\n', ["a"]),
        (
            HEAD + '7\t1\t1\ttitle\t70\t""\n8\t1\t1\ttitle\t70\t\n9\t1\t1\ttitle\t70\t\r\n',
            [None, None, None],
        ),
        (HEAD + " 7 \t1\t1\ttitle\t70\t a \n", [" a "]),
        (HEAD + "\n7\t1\t1\ttitle\t70\ta\n\r\n\n", ["a"]),
        (HEAD + '7\t1\t1\ttitle\t"7\n0"\tü\n', ["ü"]),
        (HEAD, []),
    ],
)
def test_what_the_editions_files_really_hold_is_read(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    path = written(tmp_path, text)

    assert ([formula for _, formula in formulas(path)], told(path)) == (expected, [])


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        ("5\t1\t1\ttitle\t70\ta\tb\tc\td\n", "9 columns"),
        ("5\t1\t1\ttitle\n", "4 columns"),
        ("x\t1\t1\ttitle\t70\ta\n", "the formula id 'x'"),
        ("٥\t1\t1\ttitle\t70\ta\n", "the formula id '٥'"),
        ("\t1\t1\ttitle\t70\ta\n", "a row without formula id"),
        (" \t1\t1\ttitle\t70\ta\n", "a row without formula id"),
        ("5\t\t1\ttitle\t70\ta\n", "a row without post id"),
        ("5\tpost\t1\ttitle\t70\ta\n", "the post id 'post'"),
        ("5\t1\tthread\ttitle\t70\ta\n", "the thread id 'thread'"),
        ("7\t1\t1\ttitle\t70\ta\n", "the formula 7 again"),
        ('5\t1\t1\ttitle\t70\t"a\n', "an unclosed quoted cell"),
        ('5\t1\t1\ttitle\t"70\ta\n', "an unclosed quoted cell"),
        ('5\t1\t1\ttitle\t70\t"a"b"c"\n', "a quoted cell with a single quote in it"),
        ('5\t1\t1\ttitle\t70\t"a" b\n', "a quoted cell with a single quote in it"),
        ('5\t1\t1\ttitle\t70\t"a"\tb\n', "7 columns"),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_the_rest_is_in(
    tmp_path: Path, bad: str, found: str
) -> None:
    first, _, third = ROWS.splitlines(keepends=True)
    path = written(tmp_path, HEAD + first + '8\t1\t1\ttitle\t70\t"a\nb"\n' + bad + third)

    assert told(path) == [(5, found)]
    assert [formula_id for formula_id, _ in formulas(path)] == ["7", "8", "9"]


def test_a_formula_of_a_document_is_read_once(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + "Beta_(π):0\tBeta_(π)\t\tdocument\t\ta\n" * 2)

    assert told(path) == [(3, "the formula Beta_(π):0 again")]
    assert [formula_id for formula_id, _ in formulas(path)] == ["Beta_(π):0"]


def test_bytes_that_are_not_utf8_cost_their_row(tmp_path: Path) -> None:
    path = written(tmp_path, (HEAD + ROWS).encode().replace(b"a=2b", b"a=\xff2b"))

    assert told(path) == [(3, "the byte 0xFF, which is not UTF-8")]
    assert [formula_id for formula_id, _ in formulas(path)] == ["7", "9"]


def test_an_unclosed_quote_at_the_end_costs_its_row(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + ROWS + '10\t1\t1\ttitle\t70\t"a\nb\n')

    assert told(path) == [(5, "an unclosed quoted cell")]
    assert len(formulas(path)) == 3


def test_an_id_of_another_file_is_reported(tmp_path: Path) -> None:
    written(tmp_path, HEAD + ROWS, "1.tsv")
    written(tmp_path, HEAD + "10\t1\t1\ttitle\t70\ta\n8\t1\t1\ttitle\t70\tb\n", "2.tsv")

    [problem] = whole(tmp_path).problems
    assert (problem.path, problem.line, problem.found) == (
        f"{tmp_path.name}/2.tsv",
        3,
        "the formula 8 again",
    )


def test_a_file_with_other_headings_is_passed_over_and_the_others_are_in(tmp_path: Path) -> None:
    written(tmp_path, HEAD + ROWS, "1.tsv")
    written(tmp_path, ROWS, "2.tsv")
    written(tmp_path, "id\tid\tpost_id\tthread_id\ttype\tformula\n", "3.tsv")
    written(tmp_path, "", "4.tsv")
    written(tmp_path, HEAD + "10\t1\t1\ttitle\t70\ta\n", "5.tsv")

    assert [(problem.path[-5:], problem.line) for problem in whole(tmp_path).problems] == [
        ("2.tsv", 1),
        ("3.tsv", 1),
        ("4.tsv", 1),
    ]
    assert len(formulas(tmp_path)) == 4


def test_a_cut_gzip_file_gives_the_rows_before_the_cut(tmp_path: Path) -> None:
    many = "".join(
        f"{number}\t1\t1\ttitle\t{number * 7919 % 10007}\tx_{number}\n"
        for number in range(1, 20_001)
    )
    packed = gzip.compress((HEAD + many).encode())
    frame, problems = whole(written(tmp_path, packed[: len(packed) // 2]))

    assert frame["formula"].to_list() == [f"x_{number}" for number in range(1, frame.height + 1)]
    assert 5_000 < frame.height < 15_000
    assert [(problem.line, problem.found) for problem in problems] == [
        (frame.height + 2, "a gzip file that is truncated")
    ]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_damaged_file_is_reported(tmp_path: Path, pack: object) -> None:
    packed = bytearray(pack((HEAD + ROWS * 3).encode()))
    packed[len(packed) // 2 : len(packed) // 2 + 4] = b"\0\0\0\0"

    assert any(
        "damaged" in found or "truncated" in found
        for _, found in told(written(tmp_path, bytes(packed)))
    )


def test_a_file_that_is_not_an_index_is_reported(tmp_path: Path) -> None:
    assert told(tmp_path / "none.tsv") == [(1, "an unreadable file (No such file or directory)")]
    (tmp_path / "empty").mkdir()
    assert told(tmp_path / "empty") == [(None, "a folder without an index")]


@pytest.mark.parametrize("size", [7, 64, 1000])
def test_rows_are_the_same_however_the_file_is_cut_into_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    odd = '10\t1\t1\ttitle\t70\t"a\n""b""\n"\n11\t1\t1\ttitle\t70\t"c\n12\t1\t1\ttitle\t70\td\n'
    path = written(tmp_path, HEAD + ROWS + odd)
    expected = whole(path)
    pieces = index.read_pieces
    monkeypatch.setattr(index, "read_pieces", lambda path: pieces(path, size=size))

    found = whole(path)
    assert found.frame.rows() == expected.frame.rows()
    assert found.problems == expected.problems
    assert [problem.line for problem in found.problems] == [8]


def test_a_quoted_cell_may_not_go_on_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arqkit.formats.formulas.index.LONGEST_ROW", 2_000)
    monkeypatch.setattr(index, "LONGEST_ROW", 2_000)
    pieces = index.read_pieces
    monkeypatch.setattr(index, "read_pieces", lambda path: pieces(path, size=100))
    path = written(
        tmp_path,
        HEAD + ROWS + '10\t1\t1\ttitle\t70\t"a\n' + "b\n" * 2_000 + ROWS.replace("\t1\t", "\t3\t"),
    )

    assert (5, "an unclosed quoted cell") in told(path)
    assert len(formulas(path)) == 3


def test_a_file_without_line_ends_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "LONGEST_ROW", 1_000)
    monkeypatch.setattr(index, "PIECE", 1_000)
    pieces = index.read_pieces
    monkeypatch.setattr(index, "read_pieces", lambda path: pieces(path, size=500))

    assert told(written(tmp_path, "x" * 10_000)) == [
        (1, "more than 1,000 bytes without a line end")
    ]


def test_a_part_has_a_hundred_thousand_rows_at_most(tmp_path: Path) -> None:
    path = written(
        tmp_path, HEAD + "".join(f"{number}\t1\t1\tt\t\ta\n" for number in range(250_000))
    )

    assert max(part.frame.height for part in read_index(path)) <= 100_000
    assert sum(part.frame.height for part in read_index(path)) == 250_000


@given(st.lists(st.text('a"\t\n\r ü$', max_size=8), max_size=12), st.integers(20, 200))
def test_what_a_csv_writer_writes_is_read_as_it_was(cells: list[str], size: int) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter="\t", lineterminator="\r\n").writerows(
        (number, 1, 1, "title", "", cell) for number, cell in enumerate(cells)
    )
    data = (HEAD + text.getvalue()).encode()
    file = index._IndexFile("1.tsv", SeenIds())
    parts = [
        part
        for start in range(0, len(data), size)
        for part in file.take(data[start : start + size])
    ]

    found = [row for part in [*parts, *file.end()] for row in part.frame["formula"].to_list()]
    assert found == [cell or None for cell in cells]


@needs_data
def test_both_representations_of_the_real_sample_have_the_same_ids() -> None:
    latex, slt = (whole(DATA / f"collection/formulas.{kind}.tsv.gz") for kind in ("latex", "slt"))

    assert (latex.problems, slt.problems, latex.frame.height) == ([], [], 62_131)
    assert latex.frame.drop("formula").equals(slt.frame.drop("formula"))
    assert (
        slt.frame["formula"]
        .drop_nulls()
        .str.contains(r"(?s)^<(?:\?xml.*)?math.*</math>\s*$")
        .mean()
        > 0.9
    )


@needs_data
def test_the_official_rows_are_read() -> None:
    frame, problems = whole(DATA / "visual-identity/official-index-v2-sample.tsv")

    assert (frame.height, problems) == (1_000, [])
    assert frame.row(1)[-1] == r"(\mathbb{R}_{>0}, \cdot)"


@needs_data
@pytest.mark.parametrize(
    ("edition", "latex", "slt"), [(1, 1_008, 1_007), (2, 843, 843), (3, 1_050, 1_050)]
)
def test_the_topics_formulas_are_read(edition: int, latex: int, slt: int) -> None:
    for kind, count in (("latex", latex), ("slt", slt)):
        frame, problems = whole(DATA / f"arqmath-{edition}/topic-formulas.{kind}.tsv.gz")
        assert (frame.height, problems) == (count, [])
        assert frame["formula_id"].str.starts_with("q_").all()
