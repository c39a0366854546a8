"""Files of topics and answers become runs of Task 3."""

import csv

import polars as pl
import pytest

from arqkit.formats.runs.answers import ANSWERS, read_answers, run_of_answers
from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.formats import TASK3, read_rows
from arqkit.formats.runs.report import RunRules
from arqkit.records import FileRefusedError, TaskKind
from tests.real_data import DATA, needs_data

TOPICS = ("A.1", "A.2")
RULES = RunRules(TaskKind.GENERATED_ANSWERS, TOPICS, limit=1)


def read(text: str) -> dict[str, str]:
    found = read_answers(text.encode(), path="answers.tsv", topics=TOPICS, max_characters=6)
    return dict(found.iter_rows())


def test_an_answer_may_span_lines_between_quotation_marks():
    assert read('A.2\t"1""a""\n2"\nA.1\t  $x$ \n') == {"A.2": '1"a"\n2', "A.1": "$x$"}


def test_the_first_answer_that_is_short_enough_counts():
    assert read("A.1\ttoo long\nA.1\tshort\n\nA.1\tother\n") == {"A.1": "short"}


def test_every_line_without_an_answer_is_named():
    with pytest.raises(FileRefusedError) as refused:
        read('A.1\ttoo long\nA.3\ta\nA.2\nA.1\t \nA.2\ta\tb\nA.2\t"a\n')

    found = [(problem.line, problem.found) for problem in refused.value.problems]
    assert found == [
        (1, "an answer of 8 characters to A.1"),
        (2, "the topic 'A.3'"),
        (3, "columns: 1"),
        (5, "columns: 3"),
        (6, "an open quotation mark"),
    ]


def test_answers_are_written_as_a_run_without_problems():
    texts = ['"Yes"\tand\r\nno\rno', "$x$"]
    answers = pl.DataFrame({"topic": TOPICS, "answer": texts}, schema=ANSWERS)
    run = run_of_answers(answers, tag="a tag")

    table = read_rows(run, RULES)
    assert table.layout is TASK3
    assert table.rows["answer"].to_list() == ['"Yes"\tand\nno\nno', "$x$"]
    assert set(table.rows["tag"]) == {"a tag"}
    assert not check_run(run, RULES).problems


@needs_data
@pytest.mark.parametrize("model", ["gpt4", "Mistral-7B-Instruct"])
def test_of_published_answers_the_long_ones_are_refused_and_the_others_read(model):
    file = DATA / f"arqmath-3/task3-answers/{model}.tsv"
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [(topic, text.strip()) for topic, text in csv.reader(lines, delimiter="\t")]
    short = {topic: text for topic, text in rows if len(text) <= 1200}
    given = {"path": model, "topics": [topic for topic, _ in rows]}

    with pytest.raises(FileRefusedError) as refused:
        read_answers(file.read_bytes(), max_characters=1200, **given)
    assert len(refused.value.problems) == len(rows) - len(short)
    every = dict(read_answers(file.read_bytes(), max_characters=9999, **given).iter_rows())
    assert {topic: text for topic, text in every.items() if len(text) <= 1200} == short
