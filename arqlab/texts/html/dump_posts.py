"""Posts of a dump made ready for the database: read, checked, made safe. Needs no Django: worker
processes do it.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
from collections import Counter
from datetime import datetime
from multiprocessing import parent_process
from typing import Any, NamedTuple

from arqlab.formats.dumps.blocks import Block
from arqlab.formats.dumps.posts import PostRecord, read_post
from arqlab.formats.dumps.records import Window
from arqlab.formats.dumps.rows import read_block
from arqlab.ir.records import Problem
from arqlab.texts.html.sanitizer import RULES, CleanText, clean_title_and_body

FIELDS = (
    "post_id",
    "kind",
    "thread_id",
    "title",
    "body",
    "clean_title",
    "clean_body",
    "rules",
    "tags",
    "score",
    "views",
    "accepted_id",
    "author_id",
    "author_name",
    "created_at",
)
"""The fields of a ready post's values, in their order."""
_TAGS = json.JSONEncoder(ensure_ascii=False)
IN, LATER, OUT = "in", "later", "out"
"""Where a moment lies: within the window, after it but kept, or outside."""


class Work(NamedTuple):
    """What is to be done with a block: of one that is stored already only ids and formulas are
    told.

    `as_copy` asks for values as a line of PostgreSQL's COPY in its text format, not as a tuple.
    """

    block: Block
    window: Window
    is_stored: bool = False
    as_copy: bool = False


class FoundIn(NamedTuple):
    """Formulas of a text (title, question or answer): their ids and LaTeX, each joined by NUL,
    which stands in none.

    As two strings they pass from process to process at a fraction of the cost of many.
    """

    kind: str
    ids: str
    latex: str


class ReadyPost(NamedTuple):
    """A post whose values can be stored, the number of its thread, where its moment lies, and the
    formulas found in it.

    A post whose formulas all came with their ids has them in an index elsewhere: of these none are
    told.
    """

    number: int
    line: int
    kind: str
    thread: int
    place: str
    values: Any
    found: list[FoundIn]


class ReadyBlock(NamedTuple):
    """A block's posts, the problems of its rows, and what was counted; how far the file was read,
    in rows and as a share.
    """

    last: int
    share: float
    is_stored: bool
    posts: list[ReadyPost]
    problems: list[Problem]
    counts: Counter[str]


def make_ready(work: Work) -> ReadyBlock:
    """Make the posts of a block ready, in their order."""
    block, posts, problems = work.block, list[ReadyPost](), list[Problem]()
    counts = Counter[str]()
    for row in read_block(block):
        if isinstance(row, Problem):
            problems.append(row)
            continue
        record, found = read_post(row, block.source)
        problems += found
        if record is not None:
            posts.append(_ready_post(work, record, row.line, counts))
        elif not found:
            counts["other_types"] += 1
    return ReadyBlock(block.last, block.share, work.is_stored, posts, problems, counts)


def _ready_post(work: Work, record: PostRecord, line: int, counts: Counter[str]) -> ReadyPost:
    place, values, found = _place(work.window, record.created_at), None, list[FoundIn]()
    if place != OUT:
        title, body = clean_title_and_body(record.title, record.body, post_id=record.post_id)
        counts["formulas"] += title.formula_count + body.formula_count
        counts["formulas_numbered"] += title.numbered + body.numbered
        if title.numbered or body.numbered:
            found = [
                _found(kind, text)
                for kind, text in (("title", title), (record.kind, body))
                if text.ids
            ]
        if not work.is_stored:
            values = (_copy_line if work.as_copy else tuple)(_values(record, title, body))
    return ReadyPost(
        int(record.post_id), line, record.kind, int(record.thread_id), place, values, found
    )


def _found(kind: str, text: CleanText) -> FoundIn:
    return FoundIn(kind, "\0".join(text.ids), "\0".join(text.latex))


def _place(window: Window, moment: datetime | None) -> str:
    if window.searches(moment):
        return IN
    return LATER if window.keeps(moment) else OUT


def _values(record: PostRecord, title: CleanText, body: CleanText) -> tuple[Any, ...]:
    """Return the values of FIELDS."""
    return (
        record.post_id,
        record.kind,
        record.thread_id,
        record.title,
        record.body,
        title.kept,
        body.kept,
        RULES,
        record.tags,
        *record[6:],
    )


def _copy_line(values: tuple[Any, ...]) -> bytes:
    """Return the values as COPY reads them: tabs between, backslashes before what has a meaning."""
    post_id, kind, thread_id, title, body, clean_title, clean_body, rules, tags, *rest = values
    texts = (_text(title), _text(body), _null(clean_title), _null(clean_body))
    listed = _text(_TAGS.encode(tags)) if tags else "[]"
    score, views, accepted_id, author_id, author_name, moment = rest
    cells = (
        *(post_id, kind, thread_id, *texts, str(rules), listed),
        *("\\N" if number is None else str(number) for number in (score, views)),
        *(
            accepted_id,
            author_id,
            _text(author_name),
            "\\N" if moment is None else moment.isoformat(),
        ),
    )
    return "\t".join(cells).encode() + b"\n"


def _null(text: str | None) -> str:
    return "\\N" if text is None else _text(text)


def _text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def begin_worker() -> None:
    """Leave Ctrl-C to the process that started this one, and end when that was killed."""
    # Posts hold no cycles, and to look for some takes a tenth of the time.
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
