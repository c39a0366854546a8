"""Read the rows of a dump's Posts.xml as checked records (protocol §2).

The attributes are those of the public Stack Exchange dump. Ids are strings of digits. A post with
an unreadable score, date or owner is kept without it, and reported. A row without an Id is not a
post.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from arqkit.formats.dumps.records import MAX_NAME, MAX_NUMBER
from arqkit.formats.dumps.rows import DumpRow, rows
from arqkit.records import Problem

POST_KINDS: Mapping[str, str] = {"1": "question", "2": "answer"}
"""The post types that are imported; the others are tag wikis, nominations and the like."""

_ID = re.compile(r"[0-9]{1,18}", re.ASCII)
_OWNER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}", re.ASCII)
# "<algebra><limits>" in the dumps of the editions, "|algebra|limits|" in newer ones.
_TAG = re.compile(r"[^<>|]+")
_COMPLETE = "Complete the row, and import the file again."
_CORRECT = "Correct the value, and import the file again. The post was imported without it."


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
    post_id, parent = (
        fields.get("Id", "").strip(),
        (fields.get("ParentId") or fields.get("ParentID") or "").strip(),
    )
    if problem := _lack(post_id, kind, post_type, parent):
        actual, expected = problem
        return PostReading(None, (Problem(source, row.line, actual, expected, _COMPLETE),))
    post_id, parent = str(int(post_id)), str(int(parent)) if kind == "answer" else ""  # 007 is 7
    values = _Values(row, source)
    record = PostRecord(
        post_id=post_id,
        kind=kind or "",
        thread_id=post_id if kind == "question" else parent,
        title=fields.get("Title", "") if kind == "question" else "",
        body=fields.get("Body", ""),
        tags=tuple(_TAG.findall(fields.get("Tags", ""))),
        score=values.number("Score"),
        views=values.number("ViewCount"),
        accepted_id=values.matching("AcceptedAnswerId", _ID, "the id of an answer"),
        author_id=values.matching("OwnerUserId", _OWNER, "the id of a user"),
        author_name=fields.get("OwnerDisplayName", "")[:MAX_NAME],
        created_at=values.moment("CreationDate"),
    )
    return PostReading(record, tuple(values.problems))


def read_posts(path: Path) -> Iterator[PostRecord]:
    """Yield the questions and answers of a Posts.xml, and skip unreadable rows."""
    for row in rows(path, "posts"):
        if not isinstance(row, Problem) and (record := read_post(row, path.name).record):
            yield record


def _lack(post_id: str, kind: str | None, post_type: str, parent: str) -> tuple[str, str] | None:
    """Return what was found and expected in a row that is not a post."""
    if _ID.fullmatch(post_id) is None:
        actual = f"the Id {post_id[:60]!r}" if post_id else "a post without Id"
        return actual, "Id, a number of at most 18 digits"
    if kind is None:
        actual = (
            f"the PostTypeId {post_type[:60]!r}"
            if post_type
            else f"the post {post_id} without PostTypeId"
        )
        return actual, "PostTypeId, 1 for a question or 2 for an answer"
    if kind == "answer" and _ID.fullmatch(parent) is None:
        actual = (
            f"the ParentId {parent[:60]!r}" if parent else f"the answer {post_id} without ParentId"
        )
        return actual, "ParentId, the Id of the question"
    return None


class _Values:
    """The optional values of a row, and their problems."""

    def __init__(self, row: DumpRow, source: str) -> None:
        self.row, self.source = row, source
        self.problems: list[Problem] = []

    def matching(self, name: str, pattern: re.Pattern[str], expected: str) -> str:
        """Return a value that matches a pattern, or an empty string."""
        text = self.row.fields.get(name, "").strip()
        if text and pattern.fullmatch(text) is None:
            self._refuse(name, text, expected)
            return ""
        return text

    def number(self, name: str) -> int | None:
        """Return a value as a whole number, or None."""
        text = self.row.fields.get(name, "").strip()
        if not text:
            return None
        if _NUMBER.fullmatch(text) is None or abs(int(text)) > MAX_NUMBER:
            self._refuse(name, text, f"a whole number between -{MAX_NUMBER:,} and {MAX_NUMBER:,}")
            return None
        return int(text)

    def moment(self, name: str) -> datetime | None:
        """Return a value as a time, or None."""
        text = self.row.fields.get(name, "").strip()
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(text)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            self._refuse(name, text, "a time such as 2018-12-31T23:59:59.123")
            return None

    def _refuse(self, name: str, text: str, expected: str) -> None:
        actual = f"the {name} {text[:60]!r}"
        self.problems.append(Problem(self.source, self.row.line, actual, expected, _CORRECT))
