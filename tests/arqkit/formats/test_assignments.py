"""Who judges which topic, read from a file; every line that says something else is reported."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formats.assignments import AssignmentRow, read_assignments, resolve, share_out

PEOPLE = {"ann": "Ann", "ann@example.org": "Ann", "bo": "Bo"}


@pytest.mark.parametrize(
    "data", [b"A.1,ann\nA.2,bo\n", b"\xef\xbb\xbfA.1\tann\r\nA.2\tbo", b"A.1;ann\n\nA.2;bo\n"]
)
def test_commas_semicolons_and_tabs_are_read(data):
    rows, problems = read_assignments(data, path="f")

    assert [row[1:] for row in rows] == [("A.1", "ann"), ("A.2", "bo")]
    assert problems == []


def test_columns_are_found_by_their_names():
    rows, problems = read_assignments(b"Note,E-Mail,Topic_ID\nx,ann@example.org,A.1\n", path="f")

    assert rows == [AssignmentRow(2, "A.1", "ann@example.org")]
    assert problems == []


def test_every_invalid_line_is_reported():
    rows, problems = read_assignments(b"A.1,ann\nA.2\n,bo\nA.3,bo\n", path="who.csv")

    assert [row.line for row in rows] == [1, 4]
    assert [problem.line for problem in problems] == [2, 3]
    assert str(problems[0]).startswith(
        "who.csv:2: found no assessor in 'A.2'; expected a topic and an assessor."
    )


@pytest.mark.parametrize("data", [b"", b"\xff\xfeA\0", b"A.1,\xe4nn\n"])
def test_what_is_no_text_is_refused_with_a_reason(data):
    rows, [problem] = read_assignments(data, path="f")

    assert rows == []
    assert "UTF-8" in problem.expected


def test_unknown_topics_and_people_and_repetitions_are_all_reported():
    rows, _ = read_assignments(b"A.1,ann\nA.9,cy\nA.1,Ann@Example.org\nA.2,bo\nA.8,bo\n", path="f")

    pairs, problems = resolve(rows, topics=["A.1", "A.2"], people=PEOPLE, path="f")

    assert pairs == [("A.1", "Ann"), ("A.2", "Bo")]
    assert [(problem.line, problem.found) for problem in problems] == [
        (2, "the topic 'A.9'"),
        (2, "the assessor 'cy'"),
        (3, "A.1 to Ann@Example.org again (first on line 1)"),
        (5, "the topic 'A.8'"),
    ]


def test_who_has_most_already_gets_least():
    assert share_out({"A.1": 10, "A.2": 50, "A.3": 40}, {"Ann": 60, "Bo": 0}) == [
        ("A.1", "Ann"),
        ("A.2", "Bo"),
        ("A.3", "Bo"),
    ]


@given(st.dictionaries(st.text(min_size=1), st.integers(0, 500), min_size=1), st.integers(1, 9))
def test_nobody_has_more_than_another_but_for_one_topic(sizes, people):
    shared = share_out(sizes, dict.fromkeys(range(people), 0))
    had = [
        sum(sizes[topic] for topic, person in shared if person == each) for each in range(people)
    ]

    assert [topic for topic, _ in shared] == list(sizes)
    assert max(had) - min(had) <= max(sizes.values())
