"""Qrels files: every real one reads with the papers' counts; every problem of a broken one is told
with its line.
"""

import time

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formats.qrels.read import read_qrels, write_qrels
from arqkit.protocols.scales import ARQMATH, NTCIR
from arqkit.records import FileRefusedError
from tests.real_data import DATA, QRELS, SCALES, needs_data

# A file that begins with < is XML.
SIGNS = st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="<")
WORD = st.text(SIGNS, min_size=1, max_size=8)


def problems(data: bytes, **options) -> list[tuple[int | None, str]]:
    with pytest.raises(FileRefusedError) as refused:
        read_qrels(data, path="qrels.tsv", **options)
    return [(problem.line, problem.found) for problem in refused.value.problems]


@pytest.mark.parametrize(
    "data",
    [
        b"A.1\t0\t77\t2\n",
        b"A.1 0 77 2",
        b"A.1\t0\t77\t2\r\n",
        b"\n  \nA.1 Q0 77 2\n\n",
        b"A.1 xxx 77 2.0\n",
        b"  A.1 \t 0   77\t2.  \r\n",
        b"\xef\xbb\xbfA.1 0 77 +2\n",
    ],
)
def test_one_judgment_reads_alike_however_it_is_written(data):
    assert read_qrels(data, path="qrels.tsv").rows() == [("A.1", "77", 2)]


def test_an_id_may_hold_any_character_but_blanks():
    data = "A.1 0 Duckworth–Lewis_method:0 3\nA.1 0 a\x85b\u2028c 1\n".encode()

    assert read_qrels(data, path="q")["item"].to_list() == [
        "Duckworth–Lewis_method:0",
        "a\x85b\u2028c",
    ]


def test_the_file_keeps_its_order():
    assert read_qrels(b"A.2 0 9 1\nA.1 0 8 1\nA.2 0 7 1", path="q")["item"].to_list() == [
        "9",
        "8",
        "7",
    ]


def test_labels_that_are_no_judgments_are_kept():
    assert read_qrels(b"A.1 0 1 5\nA.1 0 2 6", path="q")["label"].to_list() == [5, 6]


def test_all_problems_come_at_once_in_the_order_of_their_lines():
    data = b"A.1 0 5\nA.1 0 7 9\nA.1 0 8 x\n\nA.1 0 9 1\nA.1 0 9 1\nB.1 0 9 1\n"

    assert problems(data, topics=["A.1"]) == [
        (1, "3 columns in 'A.1 0 5'"),
        (2, "the label '9'"),
        (3, "the label 'x'"),
        (6, "9 again for topic A.1 with the label 1 (label 1 on line 5)"),
        (7, "the topic B.1 on 1 line"),
    ]


@pytest.mark.parametrize("line", ["A.1", "A.1 0 5", "A.1 0 5 1 2", "A.1,0,5,1", "{"])
def test_wrong_columns_are_named(line):
    assert problems(f"A.1 0 1 1\n{line}\n".encode())[0][0] == 2


@pytest.mark.parametrize(
    "label", ["2.5", "1e0", "-1", "4", "high", "1_0", "99999999999", "٣", "0x1", "nan", "2,0"]
)
def test_a_label_is_a_whole_number_in_the_tasks_range(label):
    assert problems(f"A.1 0 5 {label}\n".encode()) == [(1, f"the label {label!r}")]


def test_a_task_may_have_other_labels():
    graded = NTCIR.without((5, 6))
    assert read_qrels(b"A.1 0 5 4.0", path="q", scale=graded).rows() == [("A.1", "5", 4)]
    assert problems(b"A.1 0 5 5", scale=graded) == [(1, "the label '5'")]


def test_without_a_scale_any_label_is_read():
    assert read_qrels(b"A.1 0 5 42", path="q", scale=None)["label"].to_list() == [42]
    assert problems(b"A.1 0 5 100", scale=None) == [(1, "the label '100'")]


@pytest.mark.parametrize("second", ["1", "2"])
def test_an_item_judged_twice_is_refused_even_with_the_same_label(second):
    data = f"A.1 0 5 1\nA.1 0 6 1\nA.1 0 5 {second}\n".encode()

    assert problems(data) == [
        (3, f"5 again for topic A.1 with the label {second} (label 1 on line 1)")
    ]


def test_the_same_item_of_two_topics_is_no_repetition():
    assert len(read_qrels(b"A.1 0 5 1\nA.2 0 5 1\n", path="q")) == 2


def test_an_unknown_topic_is_reported_once_with_its_number_of_lines():
    assert problems(b"A.1 0 5 1\nA.9 0 5 1\nA.9 0 6 1\n", topics={"A.1"}) == [
        (2, "the topic A.9 on 2 lines")
    ]


@pytest.mark.parametrize("data", [b"", b"\n\n", b" \t\r\n", b"\xef\xbb\xbf\n"])
def test_a_file_without_judgments_is_refused(data):
    assert len(problems(data)) == 1


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("A.1 0 5 1\n".encode("utf-16"), "text in UTF-16"),
        (b"A.1 0 5 1\nA.1 0 \xff 1\n", "the byte 0xFF, which is not UTF-8"),
        (b"A.1 0 5 1\nA.1 0 \0 1\n", "a null byte"),
    ],
)
def test_what_is_no_text_is_refused(data, found):
    assert problems(data)[0][1] == found


@given(st.dictionaries(st.tuples(WORD, WORD), st.sampled_from([0, 1, 2, 3, 5, 6]), min_size=1))
def test_what_is_written_reads_back(judgments):
    rows = [(topic, item, label) for (topic, item), label in judgments.items()]
    qrels = pl.DataFrame(rows, schema=["topic", "item", "label"], orient="row")

    assert set(read_qrels(write_qrels(qrels), path="q").rows()) == set(rows)
    assert write_qrels(qrels.reverse()) == write_qrels(qrels)


@needs_data
@pytest.mark.parametrize("path", QRELS)
def test_every_real_file_reads_and_fast(path):
    data = (DATA / path).read_bytes()

    started = time.process_time()
    frame = read_qrels(data, path=path, scale=SCALES.get(path.split("/")[0], ARQMATH))

    assert time.process_time() - started < 1.0
    assert frame.height == len(data.split(b"\n")) - data.endswith(b"\n")


@needs_data
@pytest.mark.parametrize(
    ("path", "topics", "judged", "most", "fewest"),
    [
        ("arqmath-1/qrels.task1.tsv", 77, "508.1", ("A.38", 188), ("A.96", 2)),
        ("arqmath-3/qrels.task1.tsv", 78, "446.8", ("A.317", 295), ("A.385", 11)),
        ("arqmath-3/qrels.task2.visual-v3.tsv", 76, "151.8", ("B.305", 143), ("B.333", 2)),
    ],
)
def test_the_counts_of_real_qrels_are_those_the_papers_print(path, topics, judged, most, fewest):
    judgments = read_qrels((DATA / path).read_bytes(), path=path).filter(pl.col("label") <= 3)
    positive = judgments.group_by("topic").agg((pl.col("label") >= 1).sum()).sort("label").rows()

    assert (judgments["topic"].n_unique(), f"{judgments.height / topics:.1f}") == (topics, judged)
    assert (positive[-1], positive[0]) == (most, fewest)
