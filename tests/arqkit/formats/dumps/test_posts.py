from datetime import UTC, datetime

import pytest

from arqkit.formats.dumps.blocks import DumpRow, rows
from arqkit.formats.dumps.records import PostReading, read_post
from tests.real_data import DATA, needs_data

QUESTION = {"Id": "5", "PostTypeId": "1", "Title": "Why?", "Body": "<p>So</p>"}


def reading(**fields: str) -> PostReading:
    return read_post(DumpRow(1, 8, QUESTION | fields), "Posts.xml")


def test_a_question_is_its_own_thread_and_has_all_of_the_dump():
    record, problems = reading(
        Tags="<sets><limits>",
        Score="-2",
        ViewCount="70",
        AcceptedAnswerId="6",
        OwnerUserId="-1",
        OwnerDisplayName="Emmy",
        CreationDate="2018-12-31T23:59:59.123",
    )

    assert problems == ()
    assert record[:6] == ("5", "question", "5", "Why?", "<p>So</p>", ("sets", "limits"))
    assert record[6:] == (
        -2,
        70,
        "6",
        "-1",
        "Emmy",
        datetime(2018, 12, 31, 23, 59, 59, 123_000, tzinfo=UTC),
    )


def test_an_answer_is_in_the_thread_of_its_question_and_has_no_title():
    record, _ = reading(PostTypeId="2", ParentId="3")

    assert (record.kind, record.thread_id, record.title) == ("answer", "3", "")


def test_tags_of_newer_dumps_are_between_bars():
    assert reading(Tags="|sets|real-analysis|").record.tags == ("sets", "real-analysis")


def test_other_types_are_no_posts_and_no_problem():
    assert reading(PostTypeId="5") == (None, ())


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"Id": ""}, "a post without Id"),
        ({"Id": "abc"}, "the Id 'abc'"),
        ({"Id": "٣"}, "the Id '٣'"),
        ({"PostTypeId": ""}, "the post 5 without PostTypeId"),
        ({"PostTypeId": "x"}, "the PostTypeId 'x'"),
        ({"PostTypeId": "2"}, "the answer 5 without ParentId"),
        ({"PostTypeId": "2", "ParentId": "x"}, "the ParentId 'x'"),
    ],
)
def test_a_row_that_is_no_post_is_a_problem_with_its_line(fields, found):
    record, problems = reading(**fields)

    assert record is None
    assert [(problem.path, problem.line, problem.found) for problem in problems] == [
        ("Posts.xml", 8, found)
    ]


@pytest.mark.parametrize(
    ("field", "value", "name"),
    [
        ("Score", "many", "score"),
        ("ViewCount", "99999999999", "views"),
        ("CreationDate", "yesterday", "created_at"),
        ("CreationDate", "0001-01-01T00:00:00+14:00", "created_at"),
    ],
)
def test_a_value_that_cannot_be_read_is_a_problem_and_the_post_is_in_without_it(field, value, name):
    record, problems = reading(**{field: value})

    assert getattr(record, name) is None
    assert [problem.found for problem in problems] == [f"the {field} {value!r}"]


def test_an_owner_that_is_no_number_is_a_problem():
    record, problems = reading(OwnerUserId="Emmy")

    assert (record.author_id, len(problems)) == ("", 1)


def test_zeros_before_an_id_make_no_other_id():
    assert reading(Id="007").record.post_id == "7"


def test_a_body_may_be_missing():
    assert read_post(DumpRow(1, 8, {"Id": "5", "PostTypeId": "1"}), "Posts.xml").record.body == ""


@needs_data
def test_the_real_posts_are_questions_and_answers():
    read = (read_post(row, "") for row in rows(DATA / "collection/Posts.xml.gz", "posts"))
    kinds = [reading.record.kind for reading in read if reading.record]

    assert (kinds.count("question"), kinds.count("answer")) == (2769, 3395)
