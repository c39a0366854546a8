import bz2
import gzip
import os
import random
import zlib
from pathlib import Path
from xml.sax.saxutils import quoteattr

import py7zr
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arqkit.formats.dumps import blocks as dumpblocks
from arqkit.formats.dumps.blocks import MAX_ROW, DumpRow, blocks, rows
from arqkit.formats.dumps.sources import dump_files, kind_of
from arqkit.records import FileRefusedError, Problem
from tests.real_data import DATA, needs_data

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<posts>\n'
NAMES = st.from_regex(r"[A-Z][A-Za-z]{0,8}", fullmatch=True)
# What XML can hold at all: no other control characters, no halves of characters.
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t\r<>&\"' "), max_size=60
)
ROWS = st.lists(st.dictionaries(NAMES, TEXTS, max_size=4), max_size=12)


def xml(found: list[dict[str, str]]) -> str:
    """Write rows as an XML writer does, each on a line of its own."""
    escapes = {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
    lines = [
        " ".join(f"{name}={quoteattr(text, escapes)}" for name, text in row.items())
        for row in found
    ]
    return HEAD + "".join(f"  <row {line} />\n" for line in lines) + "</posts>\n"


def write(folder: Path, text: str | bytes, name: str = "Posts.xml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(path: Path, kind: str = "posts") -> tuple[list[DumpRow], list[Problem]]:
    found = list(rows(path, kind))
    return [one for one in found if isinstance(one, DumpRow)], [
        one for one in found if isinstance(one, Problem)
    ]


def ids(found: list[DumpRow]) -> list[str]:
    return [row.fields["Id"] for row in found]


@settings(deadline=None)
@given(ROWS, st.integers(20, 200))
def test_what_an_xml_writer_wrote_comes_back_whatever_is_read_at_once(
    tmp_path_factory, found, size
):
    path = write(tmp_path_factory.mktemp("dump"), xml(found))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dumpblocks, "BLOCK", size)
        given_rows, problems = read(path)

    assert [dict(row.fields) for row in given_rows] == found
    assert [(row.number, row.line) for row in given_rows] == [
        (n, n + 2) for n in range(1, len(found) + 1)
    ]
    assert problems == []


@settings(deadline=None)
@given(st.data())
def test_of_a_file_cut_anywhere_the_rows_before_are_in_and_one_problem_names_the_line(
    tmp_path_factory, data
):
    found = data.draw(st.lists(st.dictionaries(NAMES, TEXTS, max_size=3), min_size=1, max_size=6))
    whole = xml(found).encode()
    cut = data.draw(st.integers(0, len(whole) - 2))
    given_rows, problems = read(write(tmp_path_factory.mktemp("dump"), whole[:cut]))

    assert [dict(row.fields) for row in given_rows] == found[: whole[:cut].count(b" />")]
    assert len(problems) == 1
    assert problems[0].line in (whole[:cut].count(b"\n") + 1, whole[:cut].rstrip().count(b"\n") + 1)


def test_lines_are_right_beyond_what_libxml2_counts_and_where_a_row_spans_several(tmp_path):
    path = write(
        tmp_path, HEAD + "\n" * 70_000 + '<row Id="1"\n  Body="x"\n/>\n<row Id="2" />\n</posts>'
    )

    assert [row.line for row in read(path)[0]] == [70_003, 70_006]


@pytest.mark.parametrize(
    "bad",
    [
        b'<row Id="2" Body="a < b" />',
        b'<row Id="2" Body="\x01" />',
        b'<row Id="2" Body="\xff\xfe" />',
        b'<row Id="2" Body="&nbsp;" />',
        b'<row Id="2" Body="x />',
        b'<row Id="2" Id="3" />',
        b'<row Id="2" Body="a <!-- b" />',
    ],
)
def test_a_row_that_is_no_xml_costs_only_itself(tmp_path, bad):
    path = write(
        tmp_path,
        HEAD.encode() + b'<row Id="1" />\n' + bad + b'\n<row Id="4" />\n<row Id="5" />\n</posts>',
    )
    found, problems = read(path)

    assert [row for row in ids(found) if row != "2"] == ["1", "4", "5"]
    assert problems[0].line == 4
    assert problems[0].path == "Posts.xml"


def test_text_after_a_row_is_reported_and_the_row_is_in(tmp_path):
    found, problems = read(
        write(tmp_path, HEAD + '<row Id="1" />\n</posts>\n<posts>\n<row Id="2" />\n</posts>')
    )

    assert ids(found) == ["1", "2"]
    assert [problem.line for problem in problems] == [3]


def test_comments_are_no_rows_and_lines_go_on_behind_them(tmp_path):
    text = (
        '<!-- <row Id="0" />\n\n -->\n<row Id="1" />\n'
        '<!-- <row Id="9" /> -->\n<row Id="2" /><!-- end -->\n</posts>'
    )

    assert [(row.fields["Id"], row.line) for row in read(write(tmp_path, HEAD + text))[0]] == [
        ("1", 6),
        ("2", 8),
    ]


def test_a_comment_longer_than_what_is_read_at_once_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(dumpblocks, "BLOCK", 50)
    comment = "<!-- " + '<row Id="9" />\n' * 100 + "-->"
    path = write(tmp_path, f'{HEAD}<row Id="1" />\n{comment}\n<row Id="2" />\n</posts>')

    assert ids(read(path)[0]) == ["1", "2"]


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE posts [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE posts [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE posts SYSTEM "http://127.0.0.1:1/x.dtd">',
        "<!DOCTYPE posts [<!ENTITY r '<row Id=\"7\" />'>]>",
    ],
)
def test_a_doctype_is_refused_and_nothing_is_expanded(tmp_path, doctype):
    found, problems = read(
        write(
            tmp_path, f'<?xml version="1.0"?>\n{doctype}\n<posts><row Id="1" Body="&x;" /></posts>'
        )
    )

    assert found == []
    assert [problem.found for problem in problems] == ["a DOCTYPE"]


def test_a_body_of_two_megabytes_is_in_and_a_row_beyond_the_limit_is_reported(tmp_path):
    body, huge = "&lt;x" * 400_000, "y" * (MAX_ROW + 2**21)
    rest = '<row Id="3" />\n</posts>\n'
    found, problems = read(
        write(tmp_path, f'{HEAD}<row Id="1" Body="{body}" />\n<row Id="2" Body="{huge}" />\n{rest}')
    )

    assert ids(found) == ["1", "3"]
    assert [row.number for row in found] == [1, 3]
    assert len(found[0].fields["Body"]) == 800_000
    assert [problem.line for problem in problems] == [4]


def test_a_row_of_a_hundred_thousand_attributes_is_reported_at_once(tmp_path):
    many = " ".join(f'a{number}="1"' for number in range(100_000))
    rows = f'<row Id="1" />\n<row {many} />\n<row Id="3" />\n'
    found, problems = read(write(tmp_path, f"{HEAD}{rows}</posts>"))

    assert ids(found) == ["1", "3"]
    assert [(one.line, one.found) for one in problems] == [(4, "a row of 100,000 attributes")]


def test_what_is_no_file_is_not_read(tmp_path):
    (tmp_path / "Posts.xml").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "Tags.xml")
    (tmp_path / "Users.xml").mkdir()

    assert dump_files(tmp_path) == {}


def test_an_empty_list_is_no_problem_and_an_empty_file_is_one(tmp_path):
    assert read(write(tmp_path, HEAD + "</posts>")) == ([], [])
    assert len(read(write(tmp_path, b""))[1]) == 1
    assert len(read(tmp_path / "none.xml")[1]) == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_other_encodings_are_read_as_declared(tmp_path, encoding):
    declared = HEAD.replace("utf-8", encoding.removesuffix("-sig"))
    found, problems = read(
        write(tmp_path, f'{declared}<row Id="1" Body="Gödel" /></posts>'.encode(encoding))
    )

    assert (found[0].fields["Body"], problems) == ("Gödel", [])


def packed(folder: Path, packing: str, data: bytes) -> Path:
    path = folder / f"Posts.xml.{packing}"
    if packing == "7z":
        with py7zr.SevenZipFile(path, "w") as archive:
            archive.writestr(data, "site/Posts.xml")
            archive.writestr(b"<comments />", "site/Comments.xml")
    else:
        path.write_bytes({"gz": gzip, "bz2": bz2}[packing].compress(data))
    return path


@pytest.mark.parametrize("packing", ["gz", "bz2", "7z"])
def test_packed_files_are_read_and_cut_ones_reported(tmp_path, packing):
    path = packed(tmp_path, packing, xml([{"Id": str(number)} for number in range(5000)]).encode())
    assert len(read(path)[0]) == 5000

    path.write_bytes(path.read_bytes()[:-40])
    found, problems = read(path)
    assert ids(found) == [str(number) for number in range(len(found))]
    assert len(problems) == 1


@pytest.mark.parametrize("declared", ["utf-16", "utf-32"])
def test_a_file_that_claims_to_be_wide_and_is_not_is_read_as_utf_8(tmp_path, declared):
    text = HEAD.replace("utf-8", declared) + '<row Id="1" Body="Gödel" /></posts>'

    found, problems = read(write(tmp_path, text))
    assert (found[0].fields["Body"], problems) == ("Gödel", [])


@pytest.mark.parametrize(
    "declared", ["base64", "rot13", "klingon", "punycode", "idna", "undefined", "utf-7", "U7"]
)
def test_an_encoding_that_is_none_of_text_is_reported(tmp_path, declared):
    found, problems = read(
        write(tmp_path, HEAD.replace("utf-8", declared) + '<row Id="1" /></posts>')
    )

    assert (found, len(problems)) == ([], 1)


def test_of_a_gz_cut_in_the_middle_all_that_can_be_unpacked_is_in(tmp_path):
    text = xml(
        [{"Id": str(number), "Body": f"text {number * 7919}" * 3} for number in range(30_000)]
    ).encode()
    whole = gzip.compress(text)
    path = write(tmp_path, whole[: len(whole) // 2], "Posts.xml.gz")
    there = zlib.decompressobj(31).decompress(whole[: len(whole) // 2])

    found, (problem,) = read(path)
    assert len(found) == there.count(b" />\n")
    assert problem.line == there.count(b"\n") + 1


def test_of_a_damaged_member_of_an_archive_all_that_can_be_unpacked_is_in(tmp_path):
    body = (
        random.Random(1).randbytes(1_500_000).hex()
    )  # is read in pieces only where its packed form is long
    text = xml(
        [{"Id": str(at), "Body": body[at * 1000 : at * 1000 + 1000]} for at in range(3000)]
    ).encode()
    path = tmp_path / "Posts.xml.7z"
    with py7zr.SevenZipFile(
        path, "w", filters=[{"id": py7zr.FILTER_LZMA2, "preset": 0}]
    ) as archive:
        archive.writestr(text, "Posts.xml")
    data = bytearray(path.read_bytes())
    data[-100_000:-90_000] = bytes(10_000)
    path.write_bytes(data)

    found, (problem,) = read(path)
    assert ids(found) == [str(at) for at in range(len(found))]
    assert 1000 < len(found) < 3000
    assert (problem.line, problem.todo) == (
        len(found) + 3,
        "Import the complete file. The rows before this line are imported.",
    )


def test_another_kind_of_file_is_reported(tmp_path):
    found, (problem,) = read(write(tmp_path, "<html><body>404</body></html>"))

    assert (found, problem.line) == ([], 1)
    assert "no row" in problem.found


def test_a_folder_and_an_archive_list_their_contents(tmp_path):
    archive = packed(tmp_path, "7z", b"<posts />").rename(tmp_path / "site.7z")
    for name in ("posts.XML.gz", "Posts.xml", "Comments.V1.0.xml", "PostHistory.xml", "readme.txt"):
        (tmp_path / name).touch()

    assert dump_files(archive) == {"posts": archive, "comments": archive}
    assert dump_files(tmp_path) == {
        "posts": tmp_path / "Posts.xml",
        "comments": tmp_path / "Comments.V1.0.xml",
    }
    assert kind_of(Path("PostHistory.xml")) is None


def test_a_damaged_archive_is_refused_with_its_name(tmp_path):
    with pytest.raises(FileRefusedError, match=r"x\.7z"):
        dump_files(write(tmp_path, b"not an archive", "x.7z"))


def test_blocks_have_the_share_of_the_file_read(tmp_path, monkeypatch):
    monkeypatch.setattr(dumpblocks, "BLOCK", 100)
    shares = [block.share for block in blocks(write(tmp_path, xml([{"Id": "1"}] * 200)), "posts")]

    assert shares == sorted(shares)
    assert shares[-1] == 1


@needs_data
def test_the_real_posts_are_all_read():
    found, problems = read(DATA / "collection/Posts.xml.gz")

    assert (len(found), problems) == (6164, [])
    assert found[0].fields["Title"] == "Do complex numbers really exist?"
