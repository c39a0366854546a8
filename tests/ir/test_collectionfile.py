"""The ids of a collection: posts as a stream of XML, formulas from an index of any edition."""

import gzip
from pathlib import Path

import pytest

from arqlab.ir.collectionfile import Post, formulas_frame, posts_frame, read_collection, read_posts
from arqlab.ir.records import FileRefusedError
from tests.ir.real_data import DATA, needs_data


def posts_file(folder: Path, *rows: str) -> Path:
    path = folder / "Posts.xml"
    path.write_text("\n".join(['<?xml version="1.0" encoding="utf-8"?>', "<posts>", *rows, "</posts>"]))
    return path


def index_file(folder: Path, *lines: str) -> Path:
    path = folder / "formulas.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def problems(read, path: Path) -> list[tuple[int | None, str]]:
    with pytest.raises(FileRefusedError) as refused:
        read(path)
    return [(problem.line, problem.found) for problem in refused.value.problems]


def test_a_question_is_its_own_thread_and_an_answer_its_questions(tmp_path):
    path = posts_file(
        tmp_path, '<row Id="1" PostTypeId="1" Body="q"/>', '<row Id="2" PostTypeId="2" ParentId="1" Body="a"/>'
    )

    assert posts_frame(path).rows() == [("1", "question", "1"), ("2", "answer", "1")]


def test_a_gzipped_file_reads_alike(tmp_path):
    plain = posts_file(tmp_path, '<row Id="1" PostTypeId="1"/>')
    zipped = tmp_path / "Posts.xml.gz"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))

    assert posts_frame(zipped).equals(posts_frame(plain))


def test_posts_are_read_with_their_texts_and_the_tags_of_either_form(tmp_path):
    path = posts_file(
        tmp_path,
        '<row Id="1" PostTypeId="1" Title="T" Body="&lt;p&gt;q&lt;/p&gt;" Tags="&lt;limits&gt;&lt;parity&gt;"/>',
        '<row Id="2" PostTypeId="5"/>',
        '<row Id="3" PostTypeId="1" Title="U" Body="r" Tags="|limits|"/>',
        '<row Id="4" PostTypeId="2" ParentId="1" Body="a"/>',
    )

    assert list(read_posts(path)) == [
        Post("1", "question", "1", "T", "<p>q</p>", ("limits", "parity")),
        Post("3", "question", "3", "U", "r", ("limits",)),
        Post("4", "answer", "1", "", "a", ()),
    ]


def test_rows_of_other_types_are_passed_over(tmp_path):
    path = posts_file(tmp_path, '<row Id="1" PostTypeId="5"/>', '<row Id="2" PostTypeId="1"/>')

    assert posts_frame(path)["post_id"].to_list() == ["2"]


def test_every_broken_row_is_told(tmp_path):
    path = posts_file(
        tmp_path,
        '<row PostTypeId="1"/>',
        '<row Id="2" PostTypeId="2"/>',
        '<row Id="3" PostTypeId="1"/>',
        '<row Id="3" PostTypeId="1"/>',
    )

    assert problems(posts_frame, path) == [
        (3, "a post without Id"),
        (4, "the answer 2 without ParentId"),
        (6, "the post 3 again"),
    ]


def test_xml_that_ends_too_early_is_told(tmp_path):
    path = tmp_path / "Posts.xml"
    path.write_text('<posts>\n<row Id="1" PostTypeId="1"/>\n<row Id="2"')

    assert len(problems(posts_frame, path)) == 1


def test_a_gzip_that_ends_too_early_is_told(tmp_path):
    path = tmp_path / "Posts.xml.gz"
    whole = "<posts>" + "".join(f'<row Id="{number}" PostTypeId="1"/>' for number in range(3000)) + "</posts>"
    path.write_bytes(gzip.compress(whole.encode())[:-4000])

    assert problems(posts_frame, path)


def test_a_doctype_is_refused(tmp_path):
    path = tmp_path / "Posts.xml"
    path.write_text('<!DOCTYPE posts [<!ENTITY x "y">]><posts><row Id="1" PostTypeId="1"/></posts>')

    assert problems(posts_frame, path) == [(1, "a DOCTYPE")]


@pytest.mark.parametrize(
    ("header", "row", "visual_id"),
    [
        ("id\tpost_id\tthread_id\ttype\tformula", "7\t2\t1\tanswer\tx", None),
        (
            "id\tpost_id\tthread_id\ttype\tcomment_id\told_visual_id\tvisual_id\tformula",
            "7\t2\t1\tanswer\t\t5\t9\tx",
            "9",
        ),
        (
            "id\tpost_id\tthread_id\ttype\tcomment_id\told_visual_id\tvisual_id\tissue\tformula",
            "7\t2\t1\tanswer\t\t5\t9\t\tx",
            "9",
        ),
        ("formula_id\tpost_id\tthread_id\ttype\tvisual_id\tformula", "7\t2\t1\tanswer\t\tx", None),
    ],
)
def test_the_index_of_every_edition_reads(tmp_path, header, row, visual_id):
    assert formulas_frame(index_file(tmp_path, header, row)).rows() == [("7", "2", "1", "answer", visual_id)]


def test_quoted_formulas_may_hold_tabs_and_quotes(tmp_path):
    path = index_file(tmp_path, "id\tpost_id\tthread_id\ttype\tformula", '7\t2\t1\tanswer\t"a ""b""\tc"')

    assert formulas_frame(path).height == 1


def test_a_missing_column_is_told(tmp_path):
    path = index_file(tmp_path, "id\tthread_id\tformula", "7\t1\tx")

    assert problems(formulas_frame, path) == [(1, "the columns id, thread_id, formula")]


def test_missing_and_repeated_ids_are_told(tmp_path):
    header = "id\tpost_id\tthread_id\ttype\tformula"
    path = index_file(tmp_path, header, "7\t2\t1\tanswer\tx", "7\t2\t1\tanswer\ty", "8\t\t1\tanswer\tz")

    assert [found for _, found in problems(formulas_frame, path)] == [
        "row 3 without formula or post id",
        "the formula 7 2 times",
    ]


def test_a_file_that_is_no_table_is_told(tmp_path):
    path = tmp_path / "formulas.tsv"
    path.write_bytes(b"")

    assert len(problems(formulas_frame, path)) == 1


@needs_data
def test_the_real_posts_read():
    posts = posts_frame(DATA / "collection/Posts.xml.gz")

    assert dict(posts["type"].value_counts().iter_rows()) == {"question": 2769, "answer": 3395}
    assert posts["post_id"].is_unique().all()


@needs_data
@pytest.mark.parametrize("representation", ["latex", "slt"])
def test_the_real_indexes_read(representation):
    formulas = formulas_frame(DATA / f"collection/formulas.{representation}.tsv.gz")

    assert formulas.height == 62131
    assert formulas["visual_id"].null_count() == 32600


def test_posts_whose_gzip_is_damaged_are_told(tmp_path):
    path = tmp_path / "Posts.xml.gz"
    path.write_bytes(b"\x1f\x8b\x08" + bytes(7) + b"\xff" * 9)

    assert "Error -3" in problems(posts_frame, path)[0][1]


def test_the_problems_of_both_files_are_told_at_once(tmp_path):
    posts, index = posts_file(tmp_path, '<row Id="2" PostTypeId="2"/>'), index_file(tmp_path, "")
    with pytest.raises(FileRefusedError) as refused:
        read_collection(posts, index)

    assert {problem.path for problem in refused.value.problems} == {str(posts), str(index)}
    assert read_collection(None, None) == (None, None)
