"""Read the rows of a dump as checked records: posts, comments, users and so on (protocol §2).

The attributes are those of the public Stack Exchange dump. The spellings of the ARQMath releases
and of older dumps (`PostLinkTypeId`, `ParentID`) are also accepted, in upper or lower case. Ids are
strings of digits; the site's own user is -1. A time without a zone is in UTC. An unreadable row
becomes a Problem and affects no other row.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import partial
from typing import NamedTuple, TypeVar

from arqkit.formats.dumps.blocks import DumpRow
from arqkit.records import Problem

T = TypeVar("T")

MAX_NAME = 200  # characters of a person's name that are kept
MAX_TAG = 100
# PostgreSQL stores the numbers of a dump as integers of 32 bits.
MAX_NUMBER = 2**31 - 1
LINK_KINDS = {"1": "related", "3": "duplicate"}
BADGE_CLASSES = {"1": "gold", "2": "silver", "3": "bronze"}
VOTE_KINDS = {"2": "up", "3": "down"}

_ID = re.compile(r"[0-9]{1,18}", re.ASCII)
_AUTHOR_ID = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}", re.ASCII)
# Other names of attributes, in lower case, because older and derived dumps also differ in case.
_OTHER_NAMES = {
    "linktypeid": "postlinktypeid",
    "creationdate": "date",
    "date": "creationdate",
    "displayname": "username",
    "tagname": "name",
}

POST_KINDS: Mapping[str, str] = {"1": "question", "2": "answer"}
"""The post types that are imported; the others are tag wikis, nominations and the like."""

# "<algebra><limits>" in the dumps of the editions, "|algebra|limits|" in newer ones.
_TAG = re.compile(r"[^<>|]+")
_COMPLETE = "Complete the row, and import the file again."
_CORRECT = "Correct the value, and import the file again. The post was imported without it."


class Window(NamedTuple):
    """The days whose rows are imported, including both ends; rows without a date are imported too.

    With `keep_later`, rows after `until` are kept for topics and their threads, but not searched.
    """

    since: date | None = None
    until: date | None = None
    keep_later: bool = False

    def keeps(self, moment: datetime | None) -> bool:
        """Return whether a row of this time is stored."""
        last = None if self.keep_later else self.until
        return self._replace(until=last).searches(moment)

    def searches(self, moment: datetime | None) -> bool:
        """Return whether a post of this time is searched: it is within both ends."""
        if moment is None:
            return True
        day = moment.date()
        return not (self.since and day < self.since) and not (self.until and day > self.until)


class CommentRecord(NamedTuple):
    """A comment. Its text is the HTML of the dump; an author without an id may have a name."""

    comment_id: str
    post_id: str
    text: str
    score: int | None
    author_id: str
    author_name: str
    created_at: datetime | None


class PostLinkRecord(NamedTuple):
    """A link between questions: `related` or `duplicate`. Links of older dumps have no id."""

    link_id: str
    post_id: str
    related_id: str
    kind: str
    created_at: datetime | None

    @property
    def stored(self) -> dict[str, object]:
        """Return the values that are stored: all but the id."""
        return {name: getattr(self, name) for name in self._fields[1:]}


class TagRecord(NamedTuple):
    """A tag and the number of its questions."""

    name: str
    questions: int


class AuthorRecord(NamedTuple):
    """A user of the site: id, public name, reputation."""

    author_id: str
    name: str
    reputation: int | None


class VoteRecord(NamedTuple):
    """A vote on a post: `up`, `down`, or empty for other kinds (accepted, favourite, close, …)."""

    vote_id: str
    post_id: str
    kind: str
    created_at: datetime | None


class BadgeRecord(NamedTuple):
    """A badge of a user: `gold`, `silver` or `bronze`."""

    badge_id: str
    author_id: str
    kind: str
    created_at: datetime | None


class _BadRowError(Exception):
    """An attribute of a row cannot be read; the readers below turn this into a Problem."""

    def __init__(self, actual: str, expected: str) -> None:
        super().__init__(actual)
        self.found, self.expected = actual, expected


def _value(row: DumpRow, name: str) -> str | None:
    """Return an attribute by its name in the public dump or in another one."""
    value = row.fields.get(name)
    if value is not None:
        return value
    lowered = {key.lower(): value for key, value in row.fields.items()}
    return lowered.get(name.lower(), lowered.get(_OTHER_NAMES.get(name.lower(), "")))


def _found(name: str, text: str) -> str:
    return f"the {name} {text[:60]!r}" if text else f"a row without {name}"


def _id(row: DumpRow, name: str, *, is_needed: bool = True, is_author: bool = False) -> str:
    text = (_value(row, name) or "").strip()
    if not text and not is_needed:
        return ""
    if (_AUTHOR_ID if is_author else _ID).fullmatch(text) is None:
        expected = "the id of a user" if is_author else "a number of at most 18 digits"
        raise _BadRowError(_found(name, text), f"{name}, {expected}")
    return text


def _text(row: DumpRow, name: str) -> str:
    text = _value(row, name)
    if not text or text.isspace():
        raise _BadRowError(_found(name, ""), f"{name} with some text")
    return text


def _number(row: DumpRow, name: str) -> int | None:
    text = (_value(row, name) or "").strip()
    if not text:
        return None
    if _NUMBER.fullmatch(text) is None or abs(int(text)) > MAX_NUMBER:
        expected = f"a whole number between -{MAX_NUMBER:,} and {MAX_NUMBER:,}"
        raise _BadRowError(_found(name, text), expected)
    return int(text)


def _kind(row: DumpRow, name: str, kinds: Mapping[str, str]) -> str:
    text = (_value(row, name) or "").strip()
    if text not in kinds:
        expected = ", ".join(f"{number} ({kind})" for number, kind in kinds.items())
        raise _BadRowError(_found(name, text), f"{name}, one of {expected}")
    return kinds[text]


def _moment(row: DumpRow, name: str) -> datetime | None:
    text = (_value(row, name) or "").strip()
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        expected = f"{name}, a time such as 2018-12-31T23:59:59.123"
        raise _BadRowError(_found(name, text), expected) from None


def _reader(
    build: Callable[..., T], **fields: Callable[[DumpRow], object]
) -> Callable[[DumpRow, str], T | Problem]:
    """Return what reads a row of a file into a record, field by field, or into its problem."""

    def read(row: DumpRow, source: str) -> T | Problem:
        try:
            return build(**{name: value(row) for name, value in fields.items()})
        except _BadRowError as bad:
            todo = "Correct the row, and import the file again."
            return Problem(source, row.line, bad.found, bad.expected, todo)

    return read


def _tag(name: str, questions: int | None) -> TagRecord:
    name, count = name.strip(), questions or 0
    if len(name) > MAX_TAG:
        raise _BadRowError(f"a tag of {len(name)} characters", f"at most {MAX_TAG} characters")
    if count < 0:
        raise _BadRowError(f"the Count {count}", "the number of questions, 0 or more")
    return TagRecord(name, count)


def _author(author_id: str, name: str | None, reputation: int | None) -> AuthorRecord:
    display_name = (name or "").strip() or f"user{author_id}"
    return AuthorRecord(author_id, display_name[:MAX_NAME], reputation)


def _vote_kind(row: DumpRow) -> str:
    kind = _value(row, "VoteTypeId") or ""
    if _ID.fullmatch(kind) is None:
        expected = "the number of a vote type, such as 2 (up) or 3 (down)"
        raise _BadRowError(_found("VoteTypeId", kind), expected)
    return VOTE_KINDS.get(kind, "")


_OWN_ID = partial(_id, name="Id")
_MAYBE_ID = partial(_id, name="Id", is_needed=False)
_CREATED = partial(_moment, name="CreationDate")
# The readers of rows, each by the file; they return a record, or the problem of the row.
read_comment = _reader(
    CommentRecord,
    comment_id=_OWN_ID,
    post_id=partial(_id, name="PostId"),
    text=partial(_text, name="Text"),
    score=partial(_number, name="Score"),
    author_id=partial(_id, name="UserId", is_needed=False, is_author=True),
    author_name=lambda row: (_value(row, "UserDisplayName") or "")[:MAX_NAME],
    created_at=_CREATED,
)
read_post_link = _reader(
    PostLinkRecord,
    link_id=_MAYBE_ID,
    post_id=partial(_id, name="PostId"),
    related_id=partial(_id, name="RelatedPostId"),
    kind=partial(_kind, name="LinkTypeId", kinds=LINK_KINDS),
    created_at=_CREATED,
)
read_tag = _reader(
    _tag, name=partial(_text, name="TagName"), questions=partial(_number, name="Count")
)
# No other personal data of a user is read.
read_author = _reader(
    _author,
    author_id=partial(_id, name="Id", is_author=True),
    name=partial(_value, name="DisplayName"),
    reputation=partial(_number, name="Reputation"),
)
read_vote = _reader(
    VoteRecord,
    kind=_vote_kind,
    vote_id=_MAYBE_ID,
    post_id=partial(_id, name="PostId"),
    created_at=_CREATED,
)
read_badge = _reader(
    BadgeRecord,
    badge_id=_MAYBE_ID,
    kind=partial(_kind, name="Class", kinds=BADGE_CLASSES),
    author_id=partial(_id, name="UserId", is_author=True),
    created_at=partial(_moment, name="Date"),
)


class PostRecord(NamedTuple):
    """A question (its own thread) or an answer. Title and body are the HTML of the dump.

    Missing values are empty, or None for a number or a time. A time without a zone is in UTC.
    """

    post_id: str
    kind: str
    thread_id: str
    title: str
    body: str
    tags: tuple[str, ...] = ()
    score: int | None = None
    views: int | None = None
    accepted_id: str = ""
    author_id: str = ""
    author_name: str = ""
    created_at: datetime | None = None


class PostReading(NamedTuple):
    """The post of a row, or None (another type, or no Id), and the problems of the row."""

    record: PostRecord | None
    problems: tuple[Problem, ...] = ()


def read_post(row: DumpRow, source: str) -> PostReading:
    """Read a row of Posts.xml."""
    fields = row.fields
    post_type = fields.get("PostTypeId", "").strip()
    kind = POST_KINDS.get(post_type)
    if kind is None and post_type.isdecimal():
        return PostReading(None)
    post_id = fields.get("Id", "").strip()
    parent = (fields.get("ParentId") or fields.get("ParentID") or "").strip()
    if problem := _lack(post_id, kind, post_type, parent):
        actual, expected = problem
        return PostReading(None, (Problem(source, row.line, actual, expected, _COMPLETE),))
    post_id, parent = str(int(post_id)), str(int(parent)) if kind == "answer" else ""  # 007 is 7
    problems: list[Problem] = []

    def optional(read: Callable[[DumpRow, str], T], name: str) -> T | None:
        """Return a value, or None with a problem: the post is kept without it."""
        try:
            return read(row, name) if name in fields else None
        except _BadRowError as bad:
            expected = bad.expected.removeprefix(f"{name}, ")
            problems.append(Problem(source, row.line, bad.found, expected, _CORRECT))
            return None

    record = PostRecord(
        post_id=post_id,
        kind=kind or "",
        thread_id=post_id if kind == "question" else parent,
        title=fields.get("Title", "") if kind == "question" else "",
        body=fields.get("Body", ""),
        tags=tuple(_TAG.findall(fields.get("Tags", ""))),
        score=optional(_number, "Score"),
        views=optional(_number, "ViewCount"),
        accepted_id=optional(partial(_id, is_needed=False), "AcceptedAnswerId") or "",
        author_id=optional(partial(_id, is_needed=False, is_author=True), "OwnerUserId") or "",
        author_name=fields.get("OwnerDisplayName", "")[:MAX_NAME],
        created_at=optional(_moment, "CreationDate"),
    )
    return PostReading(record, tuple(problems))


def _lack(post_id: str, kind: str | None, post_type: str, parent: str) -> tuple[str, str] | None:
    """Return what was found and expected in a row that is not a post."""
    if _ID.fullmatch(post_id) is None:
        actual = f"the Id {post_id[:60]!r}" if post_id else "a post without Id"
        return actual, "Id, a number of at most 18 digits"
    if kind is None:
        actual = f"the PostTypeId {post_type[:60]!r}"
        actual = actual if post_type else f"the post {post_id} without PostTypeId"
        return actual, "PostTypeId, 1 for a question or 2 for an answer"
    if kind == "answer" and _ID.fullmatch(parent) is None:
        actual = f"the ParentId {parent[:60]!r}"
        actual = actual if parent else f"the answer {post_id} without ParentId"
        return actual, "ParentId, the Id of the question"
    return None
