"""The rows of a dump as records."""

from datetime import UTC, date, datetime
from typing import NamedTuple

import pytest

from arqkit.formats.dumps.records import (
    AuthorRecord,
    BadgeRecord,
    CommentRecord,
    PostLinkRecord,
    TagRecord,
    VoteRecord,
    Window,
    read_author,
    read_badge,
    read_comment,
    read_post_link,
    read_tag,
    read_vote,
)
from arqkit.records import Problem

WHEN = datetime(2018, 5, 1, 10, 30, tzinfo=UTC)


class Row(NamedTuple):
    line: int
    fields: dict[str, str]


def row(**fields: str) -> Row:
    return Row(7, fields)


COMMENT = {
    "Id": "5",
    "PostId": "10",
    "Text": "Nice.",
    "Score": "2",
    "UserId": "3",
    "CreationDate": "2018-05-01T10:30:00",
}
LINK = {
    "Id": "1",
    "PostId": "10",
    "RelatedPostId": "11",
    "LinkTypeId": "3",
    "CreationDate": "2018-05-01T10:30:00",
}
BADGE = {"Id": "1", "UserId": "3", "Name": "Teacher", "Date": "2018-05-01T10:30:00", "Class": "3"}
VOTE = {"Id": "1", "PostId": "10", "VoteTypeId": "2", "CreationDate": "2018-05-01T10:30:00"}


def test_a_comment_is_read():
    assert read_comment(row(**COMMENT), "Comments.xml") == CommentRecord(
        "5", "10", "Nice.", 2, "3", "", WHEN
    )


def test_a_comment_of_somebody_who_left_has_a_name_and_no_id():
    fields = {"Id": "5", "PostId": "10", "Text": "Nice.", "UserDisplayName": "Emmy"}

    assert read_comment(row(**fields), "Comments.xml") == CommentRecord(
        "5", "10", "Nice.", None, "", "Emmy", None
    )


@pytest.mark.parametrize("name", ["LinkTypeId", "PostLinkTypeId", "postlinktypeid"])
@pytest.mark.parametrize(("number", "kind"), [("1", "related"), ("3", "duplicate")])
def test_the_kind_of_a_link_is_read_in_every_spelling(name, number, kind):
    fields = {key: text for key, text in LINK.items() if key != "LinkTypeId"} | {name: number}

    assert read_post_link(row(**fields), "PostLinks.xml") == PostLinkRecord(
        "1", "10", "11", kind, WHEN
    )


def test_tags_users_votes_and_badges_are_read():
    assert read_tag(row(Id="1", TagName="limits", Count="12"), "") == TagRecord("limits", 12)
    assert read_author(row(Id="-1", DisplayName="Community", Reputation="1"), "") == AuthorRecord(
        "-1", "Community", 1
    )
    assert read_vote(row(**VOTE), "") == VoteRecord("1", "10", "up", WHEN)
    assert read_badge(row(**BADGE), "") == BadgeRecord("1", "3", "bronze", WHEN)


def test_links_of_old_dumps_have_no_id():
    fields = {key: text for key, text in LINK.items() if key != "Id"}

    assert read_post_link(row(**fields), "PostLinks.xml").link_id == ""


def test_other_kinds_of_votes_are_no_mistake():
    assert read_vote(row(**VOTE | {"VoteTypeId": "5"}), "").kind == ""


def test_a_user_without_a_name_is_called_by_the_id():
    assert read_author(row(Id="12"), "").name == "user12"


def test_a_moment_with_a_zone_becomes_utc():
    assert (
        read_comment(row(**COMMENT | {"CreationDate": "2018-05-01T12:30:00+02:00"}), "").created_at
        == WHEN
    )


@pytest.mark.parametrize(
    ("read", "fields", "said"),
    [
        (read_comment, COMMENT | {"Id": ""}, "a row without Id"),
        (read_comment, COMMENT | {"Id": "five"}, "the Id 'five'"),
        (read_comment, COMMENT | {"Id": "٥"}, "the Id '٥'"),
        (read_comment, COMMENT | {"PostId": "1" * 19}, "the PostId '1111111111111111111'"),
        (read_comment, COMMENT | {"Text": " "}, "a row without Text"),
        (read_comment, COMMENT | {"Score": "many"}, "the Score 'many'"),
        (read_comment, COMMENT | {"Score": "9999999999"}, "the Score '9999999999'"),
        (read_comment, COMMENT | {"UserId": "me"}, "the UserId 'me'"),
        (read_comment, COMMENT | {"CreationDate": "yesterday"}, "the CreationDate 'yesterday'"),
        (
            read_comment,
            COMMENT | {"CreationDate": "2018-02-30T00:00:00"},
            "the CreationDate '2018-02-30T00:00:00'",
        ),
        (
            read_comment,
            COMMENT | {"CreationDate": "0001-01-01T00:00:00+14:00"},
            "the CreationDate '0001-01-01T00",
        ),
        (read_post_link, LINK | {"LinkTypeId": "2"}, "the LinkTypeId '2'"),
        (read_post_link, LINK | {"RelatedPostId": "x"}, "the RelatedPostId 'x'"),
        (read_tag, {"TagName": ""}, "a row without TagName"),
        (read_tag, {"TagName": "x" * 101}, "a tag of 101 characters"),
        (read_tag, {"TagName": "x", "Count": "-1"}, "the Count -1"),
        (read_author, {"DisplayName": "Emmy"}, "a row without Id"),
        (read_vote, VOTE | {"VoteTypeId": "up"}, "the VoteTypeId 'up'"),
        (read_vote, VOTE | {"PostId": ""}, "a row without PostId"),
        (read_badge, BADGE | {"Class": "4"}, "the Class '4'"),
        (read_badge, BADGE | {"Date": "soon"}, "the Date 'soon'"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_file_and_line(read, fields, said):
    problem = read(row(**fields), "The.xml")

    assert isinstance(problem, Problem)
    assert str(problem).startswith(f"The.xml:7: found {said}")


def test_a_window_holds_both_its_days_and_what_has_no_date():
    window = Window(date(2010, 1, 1), date(2018, 12, 31))
    days = [(2009, 12, 31), (2010, 1, 1), (2018, 12, 31), (2019, 1, 1)]

    assert [window.keeps(datetime(*day, 23, 59, tzinfo=UTC)) for day in days] == [
        False,
        True,
        True,
        False,
    ]
    assert window.keeps(None)
    assert window.searches(None)


def test_what_came_later_may_be_kept_and_is_not_searched():
    window, later = (
        Window(None, date(2018, 12, 31), keep_later=True),
        datetime(2019, 1, 1, tzinfo=UTC),
    )

    assert (window.keeps(later), window.searches(later)) == (True, False)
    assert not Window(date(2010, 1, 1), None, keep_later=True).keeps(
        datetime(2009, 1, 1, tzinfo=UTC)
    )
