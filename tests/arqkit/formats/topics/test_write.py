"""Topics are written as the labs write them: to the byte, but for blanks around LaTeX."""

import csv
import gzip
import io

import pytest

from arqkit.formats.topics.files import (
    TopicFormula,
    read_topics,
    write_topic_formulas,
    write_topics,
)
from arqkit.records import TopicRecord
from tests.real_data import DATA, needs_data

TOPIC = TopicRecord(
    "B.1", 'Is <em>"a" & b</em>?', "<p>&lt; is less</p>", ("algebra", "limits"), "q_1", "a < b"
)
XML = """<?xml version="1.0" ?>
<Topics>
   <Topic number="B.1">
      <Formula_Id>q_1</Formula_Id>
      <Latex>a &lt; b</Latex>
      <Title>Is &lt;em&gt;&quot;a&quot; &amp; b&lt;/em&gt;?</Title>
      <Question>&lt;p&gt;&amp;lt; is less&lt;/p&gt; </Question>
      <Tags>algebra,limits</Tags>
   </Topic>
</Topics>
"""


def test_a_topic_is_written_as_in_the_labs_files():
    assert write_topics([TOPIC]).decode() == XML
    assert write_topics([TOPIC], newline="\r\n").decode() == XML.replace("\n", "\r\n")


def test_what_was_written_is_read_again():
    topics = [TOPIC, TopicRecord("A.2", "", "<pre>a\n b</pre>", ())]

    assert read_topics(write_topics(topics), path="t.xml") == topics


def test_the_index_of_formulas_quotes_what_a_tab_separated_file_must():
    formulas = [
        TopicFormula("q_1", "A.1", "77", "title", 'x"y'),
        TopicFormula("q_2", "A.1", "77", "body", "a\nb"),
    ]
    data = write_topic_formulas(formulas)

    assert data.startswith(b"id\ttopic_id\tthread_id\ttype\tformula\r\nq_1\tA.1\t77\ttitle\t")
    rows = csv.reader(io.StringIO(data.decode(), newline=""), delimiter="\t")
    assert [TopicFormula(*row) for row in rows][1:] == formulas


def lines_apart(edition: int, task: int) -> list[tuple[str, str]]:
    """The lines of an official file that come out otherwise."""
    data = (DATA / f"arqmath-{edition}" / f"topics.task{task}.xml").read_bytes()
    newline = "\r\n" if b"\r\n" in data else "\n"
    again = write_topics(read_topics(data, path="official", formulas=task == 2), newline=newline)
    # Blanks around a formula's LaTeX are no part of it: the reader leaves them out.
    official = data.decode().split(newline)
    return [
        pair
        for pair in zip(official, again.decode().split(newline), strict=False)
        if pair[0] != pair[1]
    ]


@needs_data
@pytest.mark.parametrize(("edition", "task"), [(1, 1), (1, 2), (2, 1), (3, 1)])
def test_official_topics_come_out_byte_for_byte(edition, task):
    assert lines_apart(edition, task) == []


@needs_data
def test_of_arqmath_2_only_blanks_around_the_latex_of_eight_formulas_are_lost():
    apart = lines_apart(2, 2)

    assert len(apart) == 8
    assert all(
        theirs.replace(" ", "") == ours.replace(" ", "") and "<Latex>" in theirs
        for theirs, ours in apart
    )


@needs_data
def test_of_arqmath_3_only_blanks_and_line_ends_around_latex_are_lost():
    path = DATA / "arqmath-3" / "topics.task2.xml"
    topics = read_topics(path.read_bytes(), path=str(path), formulas=True)
    again = write_topics(topics).decode()

    assert read_topics(again.encode(), path="again", formulas=True) == topics
    theirs, ours = ("".join(text.split()) for text in (path.read_text(encoding="utf-8"), again))
    assert theirs == ours


@needs_data
@pytest.mark.parametrize("edition", [2, 3])
@pytest.mark.parametrize("representation", ["latex", "slt"])
def test_official_indexes_of_formulas_come_out_byte_for_byte(edition, representation):
    data = gzip.decompress(
        (DATA / f"arqmath-{edition}" / f"topic-formulas.{representation}.tsv.gz").read_bytes()
    )
    rows = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter="\t"))

    assert write_topic_formulas(TopicFormula(*row) for row in rows[1:]) == data
