"""Making topic files of chosen questions."""

import pytest

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.folder import read_lab
from arqkit.formats.topics.chosen_questions import read_chosen
from arqkit.formats.topics.information import read_topic_info
from arqkit.records import FileRefusedError
from collection.models import Post
from collection.services.topic_making import formula_size, make_topic_files
from tests.collection.factories import make_dump

pytestmark = pytest.mark.django_db
LAB = """
[lab]
slug = "new"
name = "A new lab"
protocol = "arqmath-3"
[[tasks]]
slug = "task1"
name = "Answers"
kind = "answers"
topics = "topics.task1.xml"
topic_info = "topic-info.task1.csv"
topic_formulas = "topic-formulas.latex.tsv"
[[tasks]]
slug = "task2"
name = "Formulas"
kind = "formulas"
topics = "topics.task2.xml"
topic_info = "topic-info.task2.csv"
topic_formulas = "topic-formulas.latex.tsv"
"""


def make(text, **options):
    chosen = read_chosen(text.encode(), path="chosen.csv")
    return make_topic_files(
        collection=make_dump(), sources=chosen, path="chosen.csv", **{"first": 401} | options
    )


def written(made, folder):
    (folder / "lab.toml").write_text(LAB)
    for name, data in made.files.items():
        (folder / name).write_bytes(data)
    return read_lab(SourceFolder(folder)).tasks


def test_the_files_can_be_loaded_as_a_lab_with_two_tasks(tmp_path):
    text = "post_id,category,complexity\n101,Proof,low\n102,Concept,high\n"
    questions, formulas = written(make(text), tmp_path)

    assert [topic.query_id for topic in (*questions.topics, *formulas.topics)] == [
        "A.401",
        "A.402",
        "B.401",
        "B.402",
    ]
    assert questions.threads == {"A.401": "101", "A.402": "102"}
    assert formulas.threads == {"B.401": "101", "B.402": "102"}
    assert questions.topic_info["A.401"]["category"] == "proof"
    assert formulas.topic_info["B.402"] == {
        "complexity": "high",
        "text_dependence": "",
        "elements": "",
        "split": "",
    }
    assert [(topic.formula_id, topic.latex) for topic in formulas.topics] == [
        ("q_2", "x^2+1"),
        ("q_4", "x^2+1"),
    ]


def test_numbers_and_query_formulas_can_be_chosen(tmp_path):
    text = "post_id,topic,formula_id\n101,402,101.1\n102,,\n103,A.7,\n"
    questions, formulas = written(make(text, first=402), tmp_path)

    assert questions.threads == {"A.7": "103", "A.402": "101", "A.403": "102"}
    assert [topic.latex for topic in formulas.topics] == ["x^2+1", "x", "x^2+1"]


def test_a_question_without_formula_is_reported(tmp_path):
    make_dump("other")
    collection = make_dump(slug="again")
    Post.objects.filter(collection=collection, post_id="101").update(body="<p>Words</p>")
    chosen = read_chosen(b"post_id\n101\n102\n", path="chosen.csv")
    made = make_topic_files(collection=collection, sources=chosen, first=1, path="chosen.csv")

    assert (made.questions, made.formulas, made.without_formula) == (2, 1, ["A.1"])
    assert list(read_topic_info(made.files["topic-info.task2.csv"], path="i")) == ["B.2"]


def test_line_ends_can_be_chosen():
    assert (
        make("post_id\n101\n", newline="\r\n")
        .files["topics.task1.xml"]
        .startswith(b'<?xml version="1.0" ?>\r\n')
    )


def test_every_line_with_an_unknown_question_or_formula_is_reported():
    with pytest.raises(FileRefusedError) as refused:
        make("post_id,formula_id\n101,102.1\n999,\n1010,\n1,7\n")

    assert [(problem.line, problem.found) for problem in refused.value.problems] == [
        (2, "the query formula 102.1"),
        (3, "the post 999"),
        (4, "the post 1010"),
        (5, "the query formula 7"),
    ]
    assert refused.value.problems[0].todo == "Its formulas are 101.1, 101.2."


def test_a_long_name_is_not_a_large_formula():
    assert formula_size(r"\operatorname{averyverylongname}") < formula_size("a+b")
    assert formula_size(r"\frac{a")[0] == 0
