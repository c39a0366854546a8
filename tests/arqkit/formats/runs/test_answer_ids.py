"""The file that joins the ids of published answers to runs."""

import pytest

from arqkit.formats.runs.filename import read_answer_ids
from arqkit.records import FileRefusedError

TOPICS = ("A.301", "A.302")


def test_lines_name_run_file_topic_and_answer_and_files_lose_their_endings():
    data = (
        b"Team-task3-a-auto-both-generate-P\tA.301\td_1\r\nsub/b.tsv\tA.301\td_1\n\nb\tA.302\td_2"
    )

    assert read_answer_ids(data, path="ids.tsv", topics=TOPICS).rows() == [
        ("Team-task3-a-auto-both-generate-P", "A.301", "d_1"),
        ("b", "A.301", "d_1"),
        ("b", "A.302", "d_2"),
    ]


@pytest.mark.parametrize(
    ("data", "line", "found"),
    [
        (b"a\tA.301\td_1\na A.302 d_2\n", 2, "'a A.302 d_2'"),
        (b"a\tA.301\t\n", 1, "'a\\tA.301'"),
        (b"a\tA.301\td_1\na.tsv\tA.301\td_2\n", 2, "a and topic A.301 again (first on line 1)"),
        (b"a\tA.9\td_1\n", 1, "the topic A.9"),
        (b"a\tA.301\t" + b"d" * 301, 1, f"'{'d' * 80}'"),
    ],
)
def test_every_problem_has_its_line(data, line, found):
    with pytest.raises(FileRefusedError) as refused:
        read_answer_ids(data, path="ids.tsv", topics=TOPICS)

    assert [(one.line, one.found) for one in refused.value.problems] == [(line, found)]
