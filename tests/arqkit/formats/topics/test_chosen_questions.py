"""The list of chosen questions: what it may say, and every mistake by line."""

import pytest

from arqkit.formats.topics.chosen_questions import read_chosen
from arqkit.records import FileRefusedError


def read(text):
    return read_chosen(text.encode(), path="chosen.csv")


def problems(text):
    with pytest.raises(FileRefusedError) as refused:
        read(text)
    return [(problem.line, problem.found) for problem in refused.value.problems]


def test_a_list_of_ids_will_do():
    assert [
        (one.line, one.post_id, one.number, one.formula_id, one.facts)
        for one in read("post_id\n77\n\n78\n")
    ] == [(2, "77", None, "", {}), (4, "78", None, "", {})]


def test_number_formula_and_information_may_be_said():
    (one,) = read(
        "Topic,Post Id,Formula_Id,Category,Difficulty,Multi-Part,Complexity,Title\n"
        "B.401,77,9.1,Proof,High,No,low,x"
    )

    assert (one.post_id, one.number, one.formula_id) == ("77", 401, "9.1")
    assert one.facts == {
        "category": "proof",
        "difficulty": "hard",
        "multi_part": "no",
        "complexity": "low",
    }


def test_a_list_of_candidates_is_a_list_of_questions():
    (one,) = read("post_id,title,created,score,formulas,tags\n77,T,2019-01-01,3,9,a b\n")

    assert (one.post_id, one.number, one.formula_id, one.facts) == ("77", None, "", {})


def test_every_mistake_is_reported_by_line():
    text = "post_id,topic\n77,401\n77,402\n,403\n78,A.401\n79,4.5\n80,C.7\n"

    assert problems(text) == [
        (3, "the question 77 again (first on line 2)"),
        (4, "no post id"),
        (5, "the topic number 401 again (first on line 2)"),
        (6, "the topic number '4.5'"),
        (7, "the topic number 'C.7'"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("title\nx\n", 1, "the columns title"),
        ("post_id\n\n", None, "no questions"),
        ("post_id\n" + "x" * 200_000, 2, "invalid CSV (field larger than field limit (131072))"),
        ("", None, "an empty file"),
    ],
)
def test_a_file_that_is_no_list_is_refused(text, line, found):
    assert (line, found) in problems(text)
