"""The threads of topics: read from the index of their formulas, packed or plain."""

import gzip

import pytest

from arqlab.ir.records import FileRefusedError
from arqlab.ir.topicthreads import read_topic_threads, threads_of
from tests.ir.real_data import DATA, needs_data

HEAD = "id\ttopic_id\tthread_id\ttype\tformula\r\n"


def problems(text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(FileRefusedError) as refused:
        read_topic_threads(text.encode(), path="f.tsv")
    return [(problem.line, problem.found) for problem in refused.value.problems]


def test_a_topic_has_the_thread_of_its_formulas():
    text = HEAD + 'q_1\tA.1\t77\ttitle\tx\r\nq_2\tA.1\t77\tbody\t"a\nb"\r\nq_3\tA.2\t78\tbody\ty\r\n'

    assert read_topic_threads(text.encode(), path="f.tsv") == {"A.1": "77", "A.2": "78"}
    assert read_topic_threads(gzip.compress(text.encode()), path="f.tsv.gz") == {"A.1": "77", "A.2": "78"}


def test_a_formula_topic_has_the_thread_of_the_same_number():
    assert threads_of(["B.1", "A.2", "B.3"], {"A.1": "77", "A.2": "78"}) == {"B.1": "77", "A.2": "78"}


def test_two_threads_of_one_topic_and_an_endless_id_are_told_by_line():
    text = HEAD + f"q_1\tA.1\t77\ttitle\tx\r\nq_2\tA.1\t78\ttitle\tx\r\nq_3\tA.2\t{'9' * 41}\ttitle\tx\r\n"

    assert [line for line, _ in problems(text)] == [3, 4]


def test_a_row_without_its_cells_tells_nothing():
    assert read_topic_threads((HEAD + "q_1\r\n\r\nq_2\tA.1\t\r\n").encode(), path="f.tsv") == {}


def test_a_file_with_other_columns_is_refused():
    assert problems("a\tb\n") == [(1, "the columns a, b")]


def test_a_packed_file_that_was_cut_is_refused():
    with pytest.raises(FileRefusedError, match="a whole gzip file"):
        read_topic_threads(gzip.compress(HEAD.encode() * 99)[:-12], path="f.tsv.gz")


def test_a_cell_that_no_reader_takes_is_refused():
    assert "a broken TSV" in problems(HEAD + "x" * 200_000)[0][1]


@needs_data
@pytest.mark.parametrize(("edition", "topics", "first"), [(1, 98, "A.1"), (2, 100, "A.201"), (3, 100, "A.301")])
def test_every_real_topic_has_a_thread(edition, topics, first):
    path = DATA / f"arqmath-{edition}" / "topic-formulas.latex.tsv.gz"
    threads = read_topic_threads(path.read_bytes(), path=str(path))

    assert len(threads) == topics
    assert threads[first] == {1: "3062860", 2: "3666538", 3: "4235721"}[edition]
