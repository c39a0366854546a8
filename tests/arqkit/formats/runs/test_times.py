"""Retrieval times by topic, and their table."""

from statistics import pstdev

import pytest

from arqkit.formats.papers.listings import times_table
from arqkit.formats.runs.times import TimeFacts, read_times, write_times
from arqkit.records import FileRefusedError


def test_times_are_read_and_written_in_the_order_of_the_topics():
    times = read_times("A.10\t1.278\n\nA.2  0.316 \r\nA.3 2")

    assert times == {"A.10": 1.278, "A.2": 0.316, "A.3": 2.0}
    assert write_times(times) == "A.2 0.316\nA.3 2.0\nA.10 1.278"


def test_every_wrong_line_is_reported():
    text = "A.1 fast\nA.1 -1\nA.1 inf\nA.1\nA.1 1 2\nA.1 1\nA.1 1\nA.9 1"
    with pytest.raises(FileRefusedError) as refused:
        read_times(text, topics={"A.1"})

    assert [problem.line for problem in refused.value.problems] == [1, 2, 3, 4, 5, 7, 8]
    assert "the topic A.9" in str(refused.value)


def test_the_table_has_the_columns_of_the_paper():
    facts = TimeFacts.of({"A.10": 1.0, "A.2": 1.0, "A.3": 4.0})

    assert facts == (1.0, "A.2", 4.0, "A.3", 2.0, pstdev([1, 1, 4]))
    table = times_table([("Tangent-S", facts)])
    assert table
    assert "Tangent-S & $1.000$ & A.2 & $4.000$ & A.3 & $2.000$ & $1.414$" in table.latex()
    assert times_table([]) is None
