"""Topic information: JSON and CSV with different names become one set of names and values."""

from collections import Counter

import pytest

from arqkit.formats.topics.information import read_topic_info
from arqkit.records import FileRefusedError
from tests.real_data import DATA, needs_data

FILES = (
    "arqmath-1/topic-info.task1.json",
    "arqmath-2/topic-info.task1.csv",
    "arqmath-3/topic-info.task1.csv",
)


def problems(data: bytes) -> list[tuple[int | None, str]]:
    with pytest.raises(FileRefusedError) as refused:
        read_topic_info(data, path="info")
    return [(problem.line, problem.found) for problem in refused.value.problems]


@pytest.mark.parametrize(
    "data",
    [
        b'{"A.1": {"TopicType": "Computation", "Difficulty": "Easy", "Dependence": "Both"}}',
        b"Topic,Dependency,Difficulty,Category\nA.1,Both,Low,Calculation\n",
        b"Topic,Category,Difficulty,Dependency\r\nA.1,Computation,Low,Both\r\n",
        b"\xef\xbb\xbfTopic Id, dependence ,DIFFICULTY,Topic-Type\nA.1, Both,easy ,Calculation\n",
    ],
)
def test_each_editions_names_become_ours(data):
    expected = {"category": "computation", "difficulty": "easy", "dependency": "both"}

    assert read_topic_info(data, path="info") == {"A.1": expected}


def test_multi_part_and_complexity_are_known_too():
    found = read_topic_info(b"Topic,Multi-Part,Complexity\nA.1,Yes,High\n", path="info")

    assert found == {"A.1": {"multi_part": "yes", "complexity": "high"}}


def test_everything_else_is_kept_as_it_is():
    found = read_topic_info(
        b'{"A.1": {"H+M": 11, "#Answers": 4.5, "Note": "As It Is"}}', path="info"
    )

    assert found == {"A.1": {"H+M": "11", "#Answers": "4.5", "Note": "As It Is"}}


def test_headings_among_the_topics_are_passed_over():
    found = read_topic_info(
        b'{"Topic id": {"Difficulty": "Difficulty"}, "A.1": {"Difficulty": "Hard"}}', path="info"
    )

    assert found == {"A.1": {"difficulty": "hard"}}


def test_broken_json_is_named_with_its_line():
    assert problems(b'{"A.1": {},\n "A.2" {}}')[0][0] == 2


def test_json_of_another_shape_is_named():
    assert problems(b'{"A.1": 3, "A.2": {}, "A.3": [1]}') == [
        (None, "3 for the topic A.1"),
        (None, "[1] for the topic A.3"),
    ]


def test_a_topic_twice_in_json_is_named():
    assert problems(b'{"A.1": {}, "A.1": {}}') == [(None, "the name A.1 twice")]


def test_problems_of_a_csv_come_at_once_with_their_lines():
    data = b"Topic,Difficulty\nA.1,Low\nA.1,High\nA.2\n,Low\nA.3,Low,x\n\n"

    assert problems(data) == [
        (3, "the topic A.1 again"),
        (4, "1 cells"),
        (5, "no topic"),
        (6, "3 cells"),
    ]


def test_a_csv_needs_a_column_of_topics():
    assert problems(b"Number of,Difficulty\nA.1,Low\n") == [
        (1, "the columns Number of, Difficulty")
    ]


def test_an_empty_file_is_refused():
    assert problems(b"") == [(None, "an empty file")]


@needs_data
@pytest.mark.parametrize(("path", "topics"), list(zip(FILES, (77, 71, 78), strict=True)))
def test_every_real_file_reads_with_all_topics(path, topics):
    found = read_topic_info((DATA / path).read_bytes(), path=path)

    assert len(found) == topics
    assert {row["difficulty"] for row in found.values()} == {"easy", "medium", "hard"}
    assert {row["dependency"] for row in found.values()} == {"text", "formula", "both"}


@needs_data
def test_the_real_categories_are_the_papers():
    found = [
        Counter(
            row["category"]
            for row in read_topic_info((DATA / path).read_bytes(), path=path).values()
        )
        for path in FILES
    ]

    assert found[0] == {"computation": 26, "concept": 10, "proof": 41}
    assert found[1] == {"computation": 25, "concept": 19, "proof": 27}
    assert found[2] == {"computation": 21, "concept": 16, "proof": 36, "proof & concept": 5}


@pytest.mark.parametrize(
    "data",
    [
        b"Topic,Difficulty\nA.1,'" + b"x" * 200_000,
        b'Topic,Difficulty\nA.1,"low\nA.2,high\n',
        b'"Topic,Difficulty\n',
    ],
    ids=["huge cell", "open quotation mark", "open quotation mark in the header"],
)
def test_csv_that_is_unreadable_from_a_line_on_is_reported(data):
    assert "invalid CSV" in problems(data)[0][1]


def test_json_nested_very_deeply_is_reported():
    assert "levels of tables and lists" in problems(b'{"a":' * 100_000)[0][1]
