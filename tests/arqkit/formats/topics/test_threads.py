"""The threads of topics: read from the index of their formulas, packed or plain."""

import gzip
from pathlib import Path

import pytest

from arqkit.formats.topics.files import read_topic_threads, threads_of
from arqkit.records import FileRefusedError
from tests.real_data import DATA, needs_data

HEAD = "id\ttopic_id\tthread_id\ttype\tformula\r\n"


def written(folder: Path, text: str) -> Path:
    (folder / "f.tsv").write_text(text)
    return folder / "f.tsv"


def test_a_topic_has_the_thread_of_its_formulas(tmp_path):
    text = (
        HEAD
        + 'q_1\tA.1\t77\ttitle\tx\r\nq_2\tA.1\t77\tbody\t"a\nb"\r\n'
        + "q_3\tA.2\t78\tbody\ty\r\nq_4\tA.3\t\tbody\tz\r\n"
    )
    (tmp_path / "f.tsv.gz").write_bytes(gzip.compress(text.encode()))

    assert read_topic_threads(written(tmp_path, text)) == {"A.1": "77", "A.2": "78"}
    assert read_topic_threads(tmp_path / "f.tsv.gz") == {"A.1": "77", "A.2": "78"}


def test_a_formula_topic_has_the_thread_of_the_same_number():
    assert threads_of(["B.1", "A.2", "B.3"], {"A.1": "77", "A.2": "78"}) == {
        "B.1": "77",
        "A.2": "78",
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            HEAD + "q_1\tA.1\t77\ttitle\tx\r\nq_2\tA.1\t78\ttitle\tx\r\n",
            "the threads 77 and 78 of the topic A.1",
        ),
        (HEAD + f"q_1\tA.1\t{'9' * 41}\ttitle\tx\r\n", "f.tsv:2"),
        ("id\ttopic_id\n", "f.tsv:1"),
    ],
)
def test_what_is_wrong_with_the_index_is_reported(tmp_path, text, told):
    with pytest.raises(FileRefusedError, match=told):
        read_topic_threads(written(tmp_path, text))


@needs_data
@pytest.mark.parametrize(
    ("edition", "topics", "first"), [(1, 98, "A.1"), (2, 100, "A.201"), (3, 100, "A.301")]
)
def test_every_real_topic_has_a_thread(edition, topics, first):
    path = DATA / f"arqmath-{edition}" / "topic-formulas.latex.tsv.gz"
    threads = read_topic_threads(path)

    assert len(threads) == topics
    assert threads[first] == {1: "3062860", 2: "3666538", 3: "4235721"}[edition]
